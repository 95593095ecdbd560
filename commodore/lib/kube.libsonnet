// All fields of the kube library as visible fields, so that `std.objectFields` and `in` find the helpers too.
//
// Overriding a field here does not reach the other constructors; to do that, or to switch the checks off with
// `_assert:: false`, extend 'lib/kube-libsonnet/kube.libsonnet'.
local kube = import 'kube-libsonnet/kube.libsonnet';

{ [name]: kube[name] for name in std.objectFieldsAll(kube) } {
  // Without effect; kept because importers may set it.
  _commodore_show_kube_libsonnet_deprecation:: false,
}
