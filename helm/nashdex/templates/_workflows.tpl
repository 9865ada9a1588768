{{/*
Kueue's labels of a component's pods. Kueue rejects empty ones. Takes (list values component).
*/}}
{{- define "nashdex.kueueLabels" -}}
{{- $values := index . 0 -}}
{{- if eq $values.queueing.mode "kueue" -}}
{{- $kueue := $values.queueing.kueue -}}
{{- $kind := get (dict "train" "gpu" "collect" "cpu" "evaluate" "cpu") (index . 1) | default "control" -}}
{{- $default := ternary "" $kueue.localQueue (eq $kind "control") -}}
{{- with index $kueue.localQueues $kind | default $default -}}
kueue.x-k8s.io/queue-name: {{ . | quote }}
{{- with index $kueue.priorityClasses $kind }}
kueue.x-k8s.io/priority-class: {{ . | quote }}
{{- end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
A WorkflowTemplate of argo/ with what the values set: parallelism, deadlines, retries, labels and annotations of pods, and
Kueue's queue. Takes (list root path).
*/}}
{{- define "nashdex.workflowTemplate" -}}
{{- $values := (index . 0).Values -}}
{{- $workflows := $values.workflows -}}
{{- $document := (index . 0).Files.Get (index . 1) | fromYaml -}}
{{- $name := $document.metadata.name -}}
{{- if eq $name "nashdex-iteration" -}}
{{- $_ := set $document.spec "parallelism" (int64 $workflows.parallelism) -}}
{{- $_ := set $document.spec "activeDeadlineSeconds" (int64 $workflows.iterationDeadlineSeconds) -}}
{{- else if has $name (list "nashdex-league" "nashdex-exploit") -}}
{{- $_ := set $document.spec "activeDeadlineSeconds" (int64 $workflows.leagueDeadlineSeconds) -}}
{{- end -}}
{{- range $template := $document.spec.templates -}}
{{- if .podSpecPatch -}}
{{- $component := regexFind "[a-z]+-pod-patch" .podSpecPatch | trimSuffix "-pod-patch" -}}
{{- $pod := index $values (ternary "control" $component (eq $component "league")) -}}
{{- $_ := set .metadata "labels" (merge (.metadata.labels | default dict) $pod.podLabels) -}}
{{- with include "nashdex.podAnnotations" $pod | fromYaml }}{{ $_ := set $template.metadata "annotations" . }}{{ end -}}
{{- if hasKey . "container" -}}
{{- $_ := set .metadata "labels" (merge .metadata.labels (include "nashdex.kueueLabels" (list $values $component) | fromYaml)) -}}
{{- end -}}
{{- if .resource -}}
{{- $_ := set . "activeDeadlineSeconds" (int64 $workflows.iterationDeadlineSeconds) -}}
{{- else if ne $name "nashdex-check" -}}
{{- with $pod.deadlineSeconds }}{{ $_ := set $template "activeDeadlineSeconds" (int64 .) }}{{ end -}}
{{- end -}}
{{- if ne $name "nashdex-check" -}}
{{- with .retryStrategy -}}
{{- $_ := set . "limit" ($workflows.retries.limit | toString) -}}
{{- $limit := printf "asInt(retries) >= %d" (int $workflows.retries.outOfMemory) -}}
{{- $_ := set . "expression" (regexReplaceAllLiteral "asInt\\(retries\\) >= [0-9]+" .expression $limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $document -}}
{{- end -}}
