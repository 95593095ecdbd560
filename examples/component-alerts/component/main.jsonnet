local com = import 'lib/commodore.libjsonnet';
local kube = import 'lib/kube.libjsonnet';
local alerts = import 'lib/alerts.libsonnet';

local inventory = com.inventory();
local params = inventory.parameters.alerts;

local receiver = kube.Secret('receiver') {
  stringData: {
    'receiver.yaml': std.manifestYamlDoc({ name: 'team', webhook_configs: [{ url: params.webhook }] }, quote_keys=false),
  },
};

{
  '00_namespace': kube.Namespace(params.namespace),
  '10_receiver': com.namespaced(params.namespace, receiver),
  '20_rules': [
    com.namespaced(params.namespace, alerts.Rule(name, params.rules[name]))
    for name in std.objectFields(params.rules)
  ],
}
