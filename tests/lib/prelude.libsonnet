// What the expressions in the case files (*.jsonl) may use besides the libraries.
local com = import 'lib/commodore.libjsonnet';
local full = import 'lib/kube-libsonnet/kube.libsonnet';
local kube = import 'lib/kube.libjsonnet';

{
  com: com,
  kube: kube,
  full: full,

  // The full library without its checks.
  unchecked: full { _assert:: false },

  // A deployment with one container and one port.
  deployment: kube.Deployment('dep') {
    metadata+: { namespace: 'ns' },
    spec+: {
      template+: {
        spec+: {
          containers_+: {
            main_c: kube.Container('main') { image: 'img:1', ports_+: { http: { containerPort: 8080 } } },
          },
        },
      },
    },
  },

  // A workload of any kind that has `spec.template`.
  workload(kind): kube[kind]('w_1:x') {
    metadata+: { namespace: 'ns' },
    spec+: {
      template+: {
        spec+: {
          containers_+: {
            default: kube.Container('main') {
              image: 'img:1',
              ports_+: { http: { containerPort: 8080 }, u: { containerPort: 53, protocol: 'UDP' } },
            },
          },
        },
      },
    },
  },

  cronjob: kube.CronJob('cj') {
    metadata+: { labels+: { x: 'y' } },
    spec+: {
      schedule: '* * * * *',
      jobTemplate+: {
        spec+: { template+: { spec+: { containers_+: { c: kube.Container('c') { image: 'i' } } } } },
      },
    },
  },

  // A pod with one unnamed port.
  unnamedPort: {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ ports: [{ containerPort: 1 }] }] },
  },
}
