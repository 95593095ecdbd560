// Each field of the result becomes a file.
local com = import 'lib/commodore.libjsonnet';
local kube = import 'lib/kube.libjsonnet';
// Published by another component, see component-alerts/class/defaults.yml.
local alerting = import 'lib/alerting.libsonnet';

local inventory = com.inventory();
local params = inventory.parameters.nfs;
local instance = inventory.parameters._instance;

assert params.server != null && params.path != null : 'nfs: set server and path of instance %s' % instance;

local keytab = kube.Secret('keytab') {
  // In clear text: a reference in base64 could not be found.
  stringData: { keytab: params.keytab },
};

local provisioner = kube.Deployment('provisioner') {
  spec+: {
    template+: {
      spec+: {
        containers_+: {
          provisioner: kube.Container('provisioner') {
            image: '%s/%s' % [inventory.parameters.global.registry, params.image],
            env_+: { NFS_SERVER: params.server, NFS_PATH: params.path, PROVISIONER_NAME: instance },
            volumeMounts_+: { export: { mountPath: '/export' }, keytab: { mountPath: '/etc/krb5', readOnly: true } },
          },
        },
        volumes_+: {
          export: { nfs: { server: params.server, path: params.path } },
          keytab: kube.SecretVolume(keytab),
        },
      },
    },
  },
};

local storageClass = kube.StorageClass(instance) {
  apiVersion: 'storage.k8s.io/v1',
  provisioner: instance,
  reclaimPolicy: params.storage_class.reclaim_policy,
};

local full = alerting.Rule('%s-full' % instance, {
  expr: 'nfs_share_free_ratio{share="%s"} < 0.1' % params.path,
  summary: 'Less than a tenth of %s:%s is free' % [params.server, params.path],
});

{
  '00_namespace': kube.Namespace(params.namespace),
  '10_provisioner': [com.namespaced(params.namespace, object) for object in [keytab, provisioner]],
  '20_storageclass': storageClass,
  '30_alerts': com.namespaced(params.namespace, full),
}
