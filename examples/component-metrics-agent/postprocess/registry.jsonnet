// Lets all containers pull from one registry: `ghcr.io/example/agent:v1` becomes `<registry>/example/agent:v1`.
local com = import 'lib/commodore.libjsonnet';

local registry = std.extVar('registry');
local moved(image) = '%s/%s' % [registry, std.splitLimit(image, '/', 1)[1]];

local movedContainers(object) =
  if std.get(object, 'kind') != 'DaemonSet' then
    object
  else
    object {
      spec+: { template+: { spec+: {
        containers: [container { image: moved(container.image) } for container in super.containers],
      } } },
    };

// `output_path` is the folder that the filter definition names as `path`.
com.fixupDir(std.extVar('output_path'), movedContainers)
