// The manifests of this component: each field becomes a file.
local kap = import 'lib/kapitan.libjsonnet';
local kube = import 'lib/kube.libjsonnet';
local params = kap.inventory().parameters.{{ cookiecutter.parameter_key }};

{
}
