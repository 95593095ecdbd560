{{/* Leave the expressions in a value as they are: the resources are rendered once more. */}}
{{- define "fleet.resolve" -}}
{{- dict "value" .value | toJson -}}
{{- end -}}

{{/* The metadata of an object. Expects a map with `name` and `item`; gives JSON. */}}
{{- define "fleet.metadata" -}}
{{- $item := .item -}}
{{- $metadata := dict "name" .name -}}
{{- with $item.namespace }}{{- $_ := set $metadata "namespace" . -}}{{- end -}}
{{- with $item.additionalAnnotations }}
{{- $annotations := dict -}}
{{- range $key, $value := . }}{{- $_ := set $annotations $key (toString $value) -}}{{- end -}}
{{- $_ := set $metadata "annotations" $annotations -}}
{{- end -}}
{{- with $item.additionalLabels }}
{{- $labels := dict -}}
{{- range $key, $value := . }}{{- $_ := set $labels $key (toString $value) -}}{{- end -}}
{{- $_ := set $metadata "labels" $labels -}}
{{- end -}}
{{- with $item.finalizers }}{{- $_ := set $metadata "finalizers" . -}}{{- end -}}
{{- toJson $metadata -}}
{{- end -}}
