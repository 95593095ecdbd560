{{- define "observe.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "observe.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "observe.labels" -}}
{{ include "observe.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.common.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "observe.annotations" -}}
{{- with .Values.common.annotations }}
annotations:
{{ toYaml . | indent 2 }}
{{- end }}
{{- end -}}

{{- define "observe.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "observe.name" .) -}}
{{- end -}}

{{- define "observe.lease" -}}
{{- include "observe.name" . -}}
{{- end -}}

{{- define "observe.readApplications" -}}
- apiGroups: [argoproj.io]
  resources: [applications]
  verbs: [get, list, watch]
{{- end -}}

{{- define "observe.events" -}}
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end -}}

{{- define "observe.projects" -}}
- apiGroups: [kargo.akuity.io]
  resources: [stages, freights, warehouses, promotions]
  verbs: [get, list, watch]
- apiGroups: [kargo.akuity.io]
  resources: [promotions]
  verbs: [create]
- apiGroups: [kargo.akuity.io]
  resources: [stages]
  {{- with .Values.rbac.stageNames }}
  resourceNames: {{ toJson . }}
  {{- end }}
  verbs: [promote]
{{- end -}}

{{- define "observe.image" -}}
{{- $hint := "image.repository is required: build examples/observe/Containerfile, push it to your registry and name it here" -}}
{{- printf "%s:%s" (required $hint .Values.image.repository) (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}

{{- /* A pod that follows the cluster, or looks at it once if there is a schedule. */ -}}
{{- define "observe.pod" -}}
serviceAccountName: {{ include "observe.serviceAccount" . }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
containers:
  - name: observe
    image: {{ include "observe.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args:
      - observe
      - {{ if .Values.schedule }}once{{ else }}run{{ end }}
      - --{{ if not .Values.dryRun }}no-{{ end }}dry-run
      - --observe-mode={{ .Values.observeMode }}
      - --{{ if not .Values.leaderElect }}no-{{ end }}leader-elect
      {{- if .Values.leaderElect }}
      - --lease={{ .Release.Namespace }}/{{ include "observe.lease" . }}
      {{- end }}
      {{- if not .Values.schedule }}
      - --interval={{ .Values.syncPeriod }}
      {{- end }}
      - --settle={{ .Values.settle }}
      {{- range .Values.namespaces }}
      - --namespace={{ . }}
      {{- end }}
      {{- range .Values.applicationNamespaces }}
      - --application-namespace={{ . }}
      {{- end }}
      {{- if .Values.argocdKubeconfig.secretName }}
      - --argocd-kubeconfig=/etc/commodore-observe/argocd/{{ .Values.argocdKubeconfig.key }}
      {{- end }}
      {{- if not .Values.schedule }}
      - --metrics-addr={{ .Values.listenHost }}:{{ .Values.metrics.port }}
      - --health-addr={{ .Values.listenHost }}:{{ .Values.health.port }}
      - --log-format={{ .Values.logging.format }}
      - --log-level={{ .Values.logging.level }}
      {{- end }}
      {{- range .Values.extraArgs }}
      - {{ . | quote }}
      {{- end }}
    env:
      - name: POD_NAME
        valueFrom:
          fieldRef:
            fieldPath: metadata.name
      {{- with .Values.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- if not .Values.schedule }}
    ports:
      - name: metrics
        containerPort: {{ .Values.metrics.port }}
      - name: health
        containerPort: {{ .Values.health.port }}
    livenessProbe:
      httpGet:
        path: /healthz
        port: health
      {{- toYaml .Values.livenessProbe | nindent 6 }}
    readinessProbe:
      httpGet:
        path: /readyz
        port: health
      {{- toYaml .Values.readinessProbe | nindent 6 }}
    {{- end }}
    resources:
      {{- toYaml .Values.resources | nindent 6 }}
    securityContext:
      {{- toYaml .Values.containerSecurityContext | nindent 6 }}
    {{- if or .Values.extraVolumeMounts .Values.argocdKubeconfig.secretName }}
    volumeMounts:
      {{- if .Values.argocdKubeconfig.secretName }}
      - name: argocd-kubeconfig
        mountPath: /etc/commodore-observe/argocd
        readOnly: true
      {{- end }}
      {{- with .Values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- end }}
{{- if or .Values.extraVolumes .Values.argocdKubeconfig.secretName }}
volumes:
  {{- if .Values.argocdKubeconfig.secretName }}
  - name: argocd-kubeconfig
    secret:
      secretName: {{ .Values.argocdKubeconfig.secretName }}
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
