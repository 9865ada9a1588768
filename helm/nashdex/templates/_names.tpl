{{/*
Names are fixed, not derived from the release's: WorkflowTemplates and service accounts refer to each other in argo/, and
a namespace has one release.
*/}}

{{/* Labels of every object. Takes (list root component). */}}
{{- define "nashdex.labels" -}}
{{- $root := index . 0 -}}
{{ include "nashdex.selector" . }}
app.kubernetes.io/part-of: nashdex
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Labels that select a component's pods. Takes (list root component). */}}
{{- define "nashdex.selector" -}}
app.kubernetes.io/name: nashdex
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Labels of a pod. Takes (list root component). */}}
{{- define "nashdex.podLabels" -}}
{{ include "nashdex.selector" . }}
app.kubernetes.io/part-of: nashdex
{{- end -}}

{{/* Reference of an image. Takes (list root name). */}}
{{- define "nashdex.image" -}}
{{- $images := (index . 0).Values.images -}}
{{- $tag := $images.tag | default (index . 0).Chart.AppVersion -}}
{{- index $images.references (index . 1) | default (printf "%s/%s:%s" $images.repository (index . 1) $tag) -}}
{{- end -}}

{{/* Where runs are stored: the URI before the run's id. */}}
{{- define "nashdex.store" -}}
{{- with .Values.objectStore -}}
{{- ternary (printf "s3://%s" .embedded.bucket) .uri .embedded.enabled -}}
{{- end -}}
{{- end -}}

{{- define "nashdex.storeEndpoint" -}}
{{- ternary (printf "http://nashdex-store.%s.svc:7070" .Release.Namespace) .Values.objectStore.endpoint .Values.objectStore.embedded.enabled -}}
{{- end -}}

{{/* The Secret with the store's keys; `none` for workload identity. */}}
{{- define "nashdex.storeSecret" -}}
{{- .Values.objectStore.existingSecret | default (ternary "nashdex-store" "none" .Values.objectStore.embedded.enabled) -}}
{{- end -}}
