// The builtin filter `helm_namespace`: sets the namespace of all objects that a Helm chart rendered.
//
// External variables, all strings:
//   chart_output_dir  the folder with the rendered files; sub-folders are not visited
//   namespace         the namespace to set
//   create_namespace  exactly 'true' adds a file with the Namespace itself
//   exclude_objects   JSON text of an array of `{kind, name}`: objects that stay as they are; an entry without `name`
//                     covers all objects of its kind
//
// Returns an object from file stem to array of objects. Natives: yaml_load_all, list_dir, commodore_inventory.
local com = import '../lib/commodore.libjsonnet';
local kube = import '../lib/kube.libjsonnet';

local namespace = std.extVar('namespace');

com.addNamespaceToHelmOutput(
  std.extVar('chart_output_dir'),
  namespace,
  std.parseJson(std.extVar('exclude_objects'))
) + (
  if std.extVar('create_namespace') == 'true' then
    { '00_namespace': [kube.Namespace(namespace)] }
  else
    {}
)
