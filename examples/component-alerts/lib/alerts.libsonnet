// What components need to bring alerts of their own. Files of `lib` can be imported by all components of a cluster;
// their names begin with that of the component.
local kube = import 'lib/kube.libjsonnet';

{
  // One alert.
  //
  // name: name of the alert and, in lower case, of the object.
  // alert: `expr` and `summary`, optionally `for` (default 5m) and `severity` (default warning).
  Rule(name, alert): kube._Object('monitoring.coreos.com/v1', 'PrometheusRule', std.asciiLower(name)) {
    spec: {
      groups: [{
        name: std.asciiLower(name),
        rules: [{
          alert: name,
          expr: alert.expr,
          'for': std.get(alert, 'for', '5m'),
          labels: { severity: std.get(alert, 'severity', 'warning') },
          annotations: { summary: alert.summary },
        }],
      }],
    },
  },
}
