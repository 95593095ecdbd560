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
