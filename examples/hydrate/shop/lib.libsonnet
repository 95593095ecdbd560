// The shop, for one environment.
function(environment, replicas) {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'shop', namespace: 'shop-' + environment },
  spec: {
    replicas: replicas,
    selector: { matchLabels: { app: 'shop' } },
    template: {
      metadata: { labels: { app: 'shop' } },
      spec: { containers: [{ name: 'shop', image: 'registry.example.com/shop:1.0.0' }] },
    },
  },
}
