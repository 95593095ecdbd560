// Constructors for Kubernetes objects, and helpers around them.
//
//   local kube = import 'lib/kube.libjsonnet';
//   kube.ConfigMap('settings') { data: { level: 'debug' } }
//
// Conventions
//   * A constructor takes the object's name and returns an object to overlay with `+:` at any depth. All computed
//     fields are late-bound: change an input and the outputs follow.
//   * A field whose name ends in '_' is a hidden map (or list) from which the visible field of the same name without
//     '_' is computed. Maps can be extended by key where lists cannot. Setting the visible field itself bypasses this.
//   * '_' in keys of such maps becomes '-' where the key turns into a name.
//   * "Required" fields raise an error when they are needed and not set.
//   * Checks raise an error that names the problem. `(import '...') { _assert:: false }` switches them off.
//
// The field sets are those of Kubernetes 1.19, with CronJob from batch/v1 and PodDisruptionBudget from policy/v1.

local rbacGroup = 'rbac.authorization.k8s.io';

// What the suffix of a quantity multiplies it with.
local siFactors = {
  m: 0.001,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: std.pow(1024, 1),
  Mi: std.pow(1024, 2),
  Gi: std.pow(1024, 3),
  Ti: std.pow(1024, 4),
  Pi: std.pow(1024, 5),
  Ei: std.pow(1024, 6),
};

// The object that names `key` of `obj` in the way of configMapKeyRef and secretKeyRef.
local keyRef(obj, key) = { name: obj.metadata.name, key: key };

// The numbers of the ports that the containers of `podSpec` open for the protocol `proto`.
local containerPorts(podSpec, proto) = [
  port.containerPort
  for container in podSpec.containers
  for port in std.get(container, 'ports', [])
  if std.get(port, 'protocol', 'TCP') == proto
];

{
  // False switches all checks off.
  _assert:: true,

  // The Kubernetes version whose field sets the library follows.
  minKubeVersion: {
    major: 1,
    minor: 19,
    version: '%s.%s' % [self.major, self.minor],
  },

  //
  // Helpers
  //

  // The values of the visible fields of `o`, sorted by key.
  objectValues(o):: [o[key] for key in std.objectFields(o)],

  // The visible fields of `o` as `[key, value]` pairs, sorted by key.
  objectItems(o):: [[key, o[key]] for key in std.objectFields(o)],

  // `s` with '-' for each '_'.
  hyphenate(s):: std.strReplace(s, '_', '-'),

  // The number that the text `s` stands for in octal: '755' -> 493.
  parseOctal(s)::
    assert std.length(s) > 0 : 'parseOctal expects digits, got an empty text';
    std.foldl(
      function(number, digit)
        local value = std.parseInt(digit);
        assert value < 8 : 'parseOctal expects octal digits, got %s in %s' % [digit, s];
        number * 8 + value,
      std.stringChars(s),
      0
    ),

  // The object `o` as a list sorted by key: each value with the field `name`, its own or else the hyphenated key.
  mapToNamedList(o):: [{ name: $.hyphenate(key) } + o[key] for key in std.objectFields(o)],

  // The fields of `o` that are listed in `fields`, a sorted list. (In an unsorted list, names out of order are lost.)
  filterMapByFields(o, fields): { [key]: o[key] for key in std.setInter(std.objectFields(o), fields) },

  // The number that a quantity such as '100m' or '5Gi' stands for: an integer and a suffix, both required.
  siToNum(n)::
    local suffixes = std.filter(
      function(suffix) std.endsWith(n, suffix),
      std.objectFields(siFactors)
    );
    assert std.length(suffixes) > 0 : 'siToNum: %s has no suffix of %s' % [n, std.objectFields(siFactors)];
    std.parseInt(std.substr(n, 0, std.length(n) - std.length(suffixes[0]))) * siFactors[suffixes[0]],

  // `s` with its ASCII letters in lower case.
  toLower(s):: std.asciiLower(s),

  // `s` with its ASCII letters in upper case.
  toUpper(s):: std.asciiUpper(s),

  // True if exactly one of the booleans `x` and `y` is.
  boolXor(x, y):: (x && !y) || (!x && y),

  // The pod, or pod template, of the object `obj`.
  podRef(obj)::
    if obj.kind == 'Pod' then
      obj
    else if std.member(['Deployment', 'StatefulSet', 'DaemonSet', 'Job'], obj.kind) then
      obj.spec.template
    else if obj.kind == 'CronJob' then
      obj.spec.jobTemplate.spec.template
    else
      error 'podRef: objects of kind %s have no pod template known here' % obj.kind,

  // A `podSelector` by the labels of the pods of `obj`, for network policies.
  //
  // filter: sorted list of the labels to use; null uses all. Without any label left, all pods are selected.
  podLabelsSelector(obj, filter=null):: {
    local labels = $.podRef(obj).metadata.labels,
    podSelector: std.prune({
      matchLabels: if filter == null then labels else $.filterMapByFields(labels, filter),
    }),
  },

  // The ports of the pods of all objects in `obj_list` as `{port, protocol}`: TCP before UDP, ascending, each once.
  podsPorts(obj_list):: [
    { port: port, protocol: proto }
    for proto in ['TCP', 'UDP']
    for port in std.set(std.flatMap(function(obj) containerPorts($.podRef(obj).spec, proto), obj_list))
  ],

  //
  // Objects
  //

  // What all objects have in common. The label `name` follows `metadata.name`, with '-' for ':'.
  _Object(apiVersion, kind, name):: {
    local this = self,
    apiVersion: apiVersion,
    kind: kind,
    metadata: {
      name: name,
      labels: { name: std.strReplace(this.metadata.name, ':', '-') },
      annotations: {},
    },
  },

  // A list of objects. Hidden: `items_`, a map of the items.
  List(): {
    apiVersion: 'v1',
    kind: 'List',
    items_:: {},
    items: $.objectValues(self.items_),
  },

  Namespace(name): $._Object('v1', 'Namespace', name),

  // Hidden: the functions `Ip(addr)` and `Port(p)` that make the elements of a subset.
  Endpoints(name): $._Object('v1', 'Endpoints', name) {
    Ip(addr):: { ip: addr },
    Port(p):: { port: p },
    subsets: [],
  },

  // A service for the first port of the first container of a pod.
  //
  // Hidden inputs: `target_pod` (required, a pod or pod template), `port`.
  // Hidden outputs: `host`, `host_colon_port`, `http_url`, `proxy_urlpath`, and `name_port`, an Ingress back-end.
  Service(name): $._Object('v1', 'Service', name) {
    local service = self,
    local targetPort = service.target_pod.spec.containers[0].ports[0],

    target_pod:: error 'Service %s: target_pod is required' % service.metadata.name,
    port:: targetPort.containerPort,

    host:: '%s.%s.svc' % [service.metadata.name, service.metadata.namespace],
    host_colon_port:: '%s:%s' % [service.host, service.spec.ports[0].port],
    http_url:: 'http://%s/' % service.host_colon_port,
    proxy_urlpath:: '/api/v1/proxy/namespaces/%s/services/%s/' % [service.metadata.namespace, service.metadata.name],

    name_port:: {
      local backend = self,
      default_port:: service.spec.ports[0],
      port_spec::
        if 'name' in backend.default_port then
          { name: backend.default_port.name }
        else
          { number: backend.default_port.port },
      service: { name: service.metadata.name, port: backend.port_spec },
      assert !$._assert || $.boolXor('name' in backend.port_spec, 'number' in backend.port_spec) :
             'Service %s: name_port needs either a name or a number' % service.metadata.name,
    },

    spec: {
      selector: service.target_pod.metadata.labels,
      ports: [{ name: targetPort.name, port: service.port, targetPort: targetPort.containerPort }],
      type: 'ClusterIP',
    },
  },

  PersistentVolume(name): $._Object('v1', 'PersistentVolume', name) {
    spec: {},
  },

  // Hidden: `storage` (required, the size), `storageClass` (null: the cluster's default).
  PersistentVolumeClaim(name): $._Object('v1', 'PersistentVolumeClaim', name) {
    local claim = self,
    local hasClass = claim.storageClass != null,
    storage:: error 'PersistentVolumeClaim %s: storage is required' % claim.metadata.name,
    storageClass:: null,
    metadata+: {
      annotations+: { [if hasClass then 'volume.beta.kubernetes.io/storage-class']: claim.storageClass },
    },
    spec: {
      resources: { requests: { storage: claim.storage } },
      accessModes: ['ReadWriteOnce'],
      [if hasClass then 'storageClassName']: claim.storageClass,
    },
  },

  // `provisioner` is required.
  StorageClass(name): $._Object('storage.k8s.io/v1beta1', 'StorageClass', name) {
    provisioner: error 'StorageClass %s: provisioner is required' % name,
  },

  // Check: all values of `data` are strings.
  ConfigMap(name): $._Object('v1', 'ConfigMap', name) {
    local configmap = self,
    local wrong = [key for key in std.objectFields(configmap.data) if !std.isString(configmap.data[key])],
    assert !$._assert || std.length(wrong) == 0 :
           'ConfigMap %s: data has values that are not strings: %s' % [name, wrong],
    data: {},
  },

  // Hidden: `data_`, a map of plain values, encoded in `data`.
  Secret(name): $._Object('v1', 'Secret', name) {
    local secret = self,
    type: 'Opaque',
    data_:: {},
    data: { [key]: std.base64(secret.data_[key]) for key in std.objectFields(secret.data_) },
  },

  // Hidden: `target_pod` (required). Check: exactly one of `minAvailable` and `maxUnavailable` is set.
  PodDisruptionBudget(name): $._Object('policy/v1', 'PodDisruptionBudget', name) {
    local budget = self,
    target_pod:: error 'PodDisruptionBudget %s: target_pod is required' % name,
    spec: {
      assert !$._assert || $.boolXor(std.objectHas(self, 'minAvailable'), std.objectHas(self, 'maxUnavailable')) :
             'PodDisruptionBudget %s: set exactly one of minAvailable and maxUnavailable' % name,
      selector: { matchLabels: budget.target_pod.metadata.labels },
    },
  },

  Pod(name): $._Object('v1', 'Pod', name) {
    spec: $.PodSpec,
  },

  // The pods carry the labels of the deployment. If a volume is a claim, updates go without surge, as most claims can
  // be mounted only once.
  Deployment(name): $._Object('apps/v1', 'Deployment', name) {
    local deployment = self,
    local usesClaims = std.any([
      std.objectHas(volume, 'persistentVolumeClaim')
      for volume in std.get(deployment.spec.template.spec, 'volumes', [])
    ]),
    spec: {
      template: {
        spec: $.PodSpec,
        metadata: {
          labels: deployment.metadata.labels,
          annotations: {},
        },
      },
      selector: { matchLabels: deployment.spec.template.metadata.labels },
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate:
          if usesClaims then
            { maxSurge: 0, maxUnavailable: 1 }
          else
            { maxSurge: '25%', maxUnavailable: '25%' },
      },
      minReadySeconds: 30,
      revisionHistoryLimit: 10,
      replicas: 1,
    },
  },

  // The pods carry the labels of the stateful set.
  //
  // Hidden: `spec.volumeClaimTemplates_`, a map of claims; empty values inside them are dropped.
  StatefulSet(name): $._Object('apps/v1', 'StatefulSet', name) {
    local statefulset = self,
    spec: {
      local spec = self,
      assert !$._assert || spec.replicas >= 0 : 'StatefulSet %s: replicas must not be negative' % name,
      serviceName: name,
      updateStrategy: {
        type: 'RollingUpdate',
        rollingUpdate: { partition: 0 },
      },
      template: {
        spec: $.PodSpec,
        metadata: {
          labels: statefulset.metadata.labels,
          annotations: {},
        },
      },
      selector: { matchLabels: statefulset.spec.template.metadata.labels },
      volumeClaimTemplates_:: {},
      volumeClaimTemplates: [
        std.prune(
          $.PersistentVolumeClaim($.hyphenate(key)) { apiVersion:: null, kind:: null } + spec.volumeClaimTemplates_[key]
        )
        for key in std.objectFields(spec.volumeClaimTemplates_)
      ],
      replicas: 1,
    },
  },

  // The pods carry the labels of the daemon set.
  DaemonSet(name): $._Object('apps/v1', 'DaemonSet', name) {
    local daemonset = self,
    spec: {
      updateStrategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: 1 },
      },
      template: {
        spec: $.PodSpec,
        metadata: {
          labels: daemonset.metadata.labels,
          annotations: {},
        },
      },
      selector: { matchLabels: daemonset.spec.template.metadata.labels },
    },
  },

  Job(name): $._Object('batch/v1', 'Job', name) {
    local job = self,
    spec: $.JobSpec {
      template+: { metadata+: { labels: job.metadata.labels } },
    },
  },

  // `spec.schedule` is required.
  CronJob(name): $._Object('batch/v1', 'CronJob', name) {
    local cronjob = self,
    spec: {
      jobTemplate: {
        spec: $.JobSpec {
          template+: { metadata+: { labels: cronjob.metadata.labels } },
        },
      },
      schedule: error 'CronJob %s: spec.schedule is required' % name,
      successfulJobsHistoryLimit: 10,
      failedJobsHistoryLimit: 20,
      concurrencyPolicy: 'Forbid',
    },
  },

  // Hidden: `target` (required, the object to scale). `spec.maxReplicas` is required.
  HorizontalPodAutoscaler(name): $._Object('autoscaling/v1', 'HorizontalPodAutoscaler', name) {
    local autoscaler = self,
    target:: error 'HorizontalPodAutoscaler %s: target is required' % name,
    spec: {
      local spec = self,
      assert !$._assert || spec.maxReplicas >= spec.minReplicas :
             'HorizontalPodAutoscaler %s: maxReplicas is below minReplicas' % name,
      scaleTargetRef: $.CrossVersionObjectReference(autoscaler.target),
      minReplicas: autoscaler.target.spec.replicas,
      maxReplicas: error 'HorizontalPodAutoscaler %s: spec.maxReplicas is required' % name,
    },
  },

  // Hidden: `target` (required, the object to scale).
  VerticalPodAutoscaler(name):: $._Object('autoscaling.k8s.io/v1beta2', 'VerticalPodAutoscaler', name) {
    local autoscaler = self,
    target:: error 'VerticalPodAutoscaler %s: target is required' % name,
    spec: {
      targetRef: $.CrossVersionObjectReference(autoscaler.target),
      updatePolicy: { updateMode: 'Auto' },
    },
  },

  // A VerticalPodAutoscaler with name, namespace and labels of the object `target`. mode: its update mode.
  createVPAFor(target, mode='Auto'):: $.VerticalPodAutoscaler(target.metadata.name) {
    target:: target,
    metadata+: {
      namespace: target.metadata.namespace,
      labels+: target.metadata.labels,
    },
    spec+: { updatePolicy+: { updateMode: mode } },
  },

  // Check: all paths in `spec.rules` begin with '/'.
  Ingress(name): $._Object('networking.k8s.io/v1', 'Ingress', name) {
    local ingress = self,
    local relative = [
      path.path
      for rule in std.get(ingress.spec, 'rules', [])
      for path in std.get(std.get(rule, 'http', {}), 'paths', [])
      if 'path' in path && !std.startsWith(path.path, '/')
    ],
    assert !$._assert || std.length(relative) == 0 :
           'Ingress %s: paths must begin with a slash: %s' % [name, relative],
    spec: {},
  },

  // Obsolete, for old manifests only. Hidden: `versions_`, a list of version names.
  ThirdPartyResource(name): $._Object('extensions/v1beta1', 'ThirdPartyResource', name) {
    versions_:: [],
    versions: [{ name: version } for version in self.versions_],
  },

  // The definition of the resource `kind` in the API group `group`, with one version, `version`.
  //
  // Hidden: `spec.versions_`, a map of versions; inside, `default_spec`, which a version can start from.
  CustomResourceDefinition(group, version, kind): {
    local this = self,
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: '%s.%s' % [this.spec.names.plural, this.spec.group] },
    spec: {
      scope: 'Namespaced',
      group: group,
      names: {
        kind: kind,
        singular: $.toLower(self.kind),
        plural: self.singular + 's',
        listKind: self.kind + 'List',
      },
      versions_:: {
        default_spec:: {
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object' } },
            },
          },
        },
        [version]: self.default_spec,
      },
      versions: $.mapToNamedList(self.versions_),
    },
  },

  ServiceAccount(name): $._Object('v1', 'ServiceAccount', name),

  Role(name): $._Object(rbacGroup + '/v1', 'Role', name) {
    rules: [],
  },

  ClusterRole(name): $.Role(name) {
    kind: 'ClusterRole',
  },

  // Hidden: `subjects_`, a list of objects with a namespace, or of `Group(name)` and `User(name)`;
  // `roleRef_` (required), the role as an object.
  RoleBinding(name): $._Object(rbacGroup + '/v1', 'RoleBinding', name) {
    local binding = self,
    subjects_:: [],
    subjects: [
      if 'metadata' in subject then
        { kind: subject.kind, namespace: subject.metadata.namespace, name: subject.metadata.name }
      else
        subject
      for subject in binding.subjects_
    ],
    roleRef_:: error '%s %s: roleRef_ is required' % [binding.kind, name],
    roleRef: {
      apiGroup: rbacGroup,
      kind: binding.roleRef_.kind,
      name: binding.roleRef_.metadata.name,
    },
  },

  // As `RoleBinding`.
  ClusterRoleBinding(name): $.RoleBinding(name) {
    kind: 'ClusterRoleBinding',
  },

  // The group `name` as subject of a role binding.
  Group(name): { kind: 'Group', name: name, apiGroup: rbacGroup },

  // The user `name` as subject of a role binding.
  User(name): { kind: 'User', name: name, apiGroup: rbacGroup },

  // Check: `spec.encryptedData` is not empty.
  SealedSecret(name): $._Object('bitnami.com/v1alpha1', 'SealedSecret', name) {
    local sealed = self,
    assert !$._assert || std.length(std.get(sealed.spec, 'encryptedData', {})) > 0 :
           'SealedSecret %s: spec.encryptedData is empty' % name,
    spec: { encryptedData: {} },
  },

  // Hidden: `spec.ingress_` and `spec.egress_`, maps of rules. `policyTypes` lists the directions that have rules.
  NetworkPolicy(name): $._Object('networking.k8s.io/v1', 'NetworkPolicy', name) {
    local policy = self,
    spec: {
      podSelector: {},
      ingress_:: {},
      egress_:: {},
      ingress: $.objectValues(self.ingress_),
      egress: $.objectValues(self.egress_),
      policyTypes:
        (if policy.spec.ingress != [] then ['Ingress'] else [])
        + (if policy.spec.egress != [] then ['Egress'] else []),
    },
  },

  //
  // Parts of objects
  //

  // A container.
  //
  // `image` is required. Hidden: `env_`, `args_`, `ports_`, `volumeMounts_`, maps; the function `envList(map)`.
  // Check: `tty` needs `stdin`.
  Container(name): {
    local container = self,
    assert !$._assert || !container.tty || container.stdin : 'Container %s: tty needs stdin' % container.name,
    name: name,
    image: error 'Container %s: image is required' % container.name,
    imagePullPolicy: if std.endsWith(container.image, ':latest') then 'Always' else 'IfNotPresent',

    // `map` as list of environment variables: objects become `valueFrom`, null stays, all other values become text.
    envList(map):: [
      local value = map[key];
      if std.isObject(value) then
        { name: key, valueFrom: value }
      else
        { name: key, value: if value == null then null else std.toString(value) }
      for key in std.objectFields(map)
    ],

    env_:: {},
    env: container.envList(container.env_),
    args_:: {},
    args: ['--%s=%s' % [key, container.args_[key]] for key in std.objectFields(container.args_)],
    ports_:: {},
    ports: $.mapToNamedList(container.ports_),
    volumeMounts_:: {},
    volumeMounts: $.mapToNamedList(container.volumeMounts_),
    stdin: false,
    tty: false,
  },

  // The specification of a pod.
  //
  // Hidden: `containers_`, `initContainers_`, `volumes_`, maps (null containers are dropped); `default_container`, the
  // key of the container that comes first; the function `ports(proto)`, see below. Check: there is a container.
  PodSpec: {
    local spec = self,
    local keys = std.objectFields(spec.containers_),
    local named(containers, order) = [
      { name: $.hyphenate(key) } + containers[key]
      for key in order
      if containers[key] != null
    ],

    containers_:: {},
    default_container:: if std.length(keys) == 1 then keys[0] else 'default',
    containers:
      if std.length(keys) == 0 then
        []
      else if !std.member(keys, spec.default_container) then
        error 'Pod with the containers %s: there is no %s, set default_container' % [keys, spec.default_container]
      else
        named(spec.containers_, [spec.default_container] + [key for key in keys if key != spec.default_container]),

    initContainers_:: {},
    initContainers: named(spec.initContainers_, std.objectFields(spec.initContainers_)),

    volumes_:: {},
    volumes: $.mapToNamedList(spec.volumes_),

    imagePullSecrets: [],
    terminationGracePeriodSeconds: 30,

    assert !$._assert || std.length(spec.containers) > 0 : 'Pod without containers: set containers_',

    // The numbers of all container ports of the protocol `proto`; ports without protocol are TCP.
    ports(proto):: containerPorts(spec, proto),
  },

  // The specification of a job that runs once.
  JobSpec: {
    template: {
      spec: $.PodSpec { restartPolicy: 'OnFailure' },
    },
    completions: 1,
    parallelism: 1,
  },

  // Volumes: what a value in `volumes_` holds.

  // A volume for the claim `pvc`, an object.
  PersistentVolumeClaimVolume(pvc): { persistentVolumeClaim: { claimName: pvc.metadata.name } },

  EmptyDirVolume(): { emptyDir: {} },

  HostPathVolume(path, type=''): { hostPath: { path: path, type: type } },

  // Obsolete, for old manifests only.
  GitRepoVolume(repository, revision): { gitRepo: { repository: repository, revision: revision } },

  // A volume for `secret`, an object.
  SecretVolume(secret): { secret: { secretName: secret.metadata.name } },

  // A volume for `configmap`, an object.
  ConfigMapVolume(configmap): { configMap: { name: configmap.metadata.name } },

  // Values of environment variables: what a value in `env_` holds.

  // The value of `key` in `configmap`, an object that has that key in `data`.
  ConfigMapRef(configmap, key): {
    assert !$._assert || std.objectHas(configmap.data, key) :
           'ConfigMap %s has no key %s in data' % [configmap.metadata.name, key],
    configMapKeyRef: keyRef(configmap, key),
  },

  // The value of `key` in `secret`, an object that has that key in `data` or `stringData`.
  SecretKeyRef(secret, key): {
    local hasKey(field) = std.objectHas(std.get(secret, field, {}), key),
    assert !$._assert || hasKey('data') || hasKey('stringData') :
           'Secret %s has no key %s in data or stringData' % [secret.metadata.name, key],
    secretKeyRef: keyRef(secret, key),
  },

  // The pod's field at the path `key`.
  FieldRef(key): { fieldRef: { apiVersion: 'v1', fieldPath: key } },

  // The container's resource `key`, divided by `divisor`.
  ResourceFieldRef(key, divisor='1'): { resourceFieldRef: { resource: key, divisor: std.toString(divisor) } },

  // A reference to the object `target` by API version, kind and name.
  CrossVersionObjectReference(target): {
    apiVersion: target.apiVersion,
    kind: target.kind,
    name: target.metadata.name,
  },
}
