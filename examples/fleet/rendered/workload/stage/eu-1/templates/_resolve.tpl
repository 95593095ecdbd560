{{/* Resolve the expressions in each text of a value. Expects a map with `value` and `root`, the context of expressions.
Gives JSON of a map with `value`. Whatever a text becomes stays one text: nothing that a cluster says can change an object. */}}
{{- define "fleet.resolve" -}}
{{- $root := .root -}}
{{- $value := .value -}}
{{- if kindIs "map" $value -}}
{{- $done := dict -}}
{{- range $key, $inner := $value -}}
{{- $_ := set $done $key (include "fleet.resolve" (dict "value" $inner "root" $root) | fromJson).value -}}
{{- end -}}
{{- dict "value" $done | toJson -}}
{{- else if kindIs "slice" $value -}}
{{- $done := list -}}
{{- range $inner := $value -}}
{{- $done = append $done (include "fleet.resolve" (dict "value" $inner "root" $root) | fromJson).value -}}
{{- end -}}
{{- dict "value" $done | toJson -}}
{{- else if and (kindIs "string" $value) (contains "{{" $value) -}}
{{- dict "value" (tpl $value $root) | toJson -}}
{{- else -}}
{{- dict "value" $value | toJson -}}
{{- end -}}
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
