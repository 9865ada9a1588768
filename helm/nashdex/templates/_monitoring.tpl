{{/*
Several releases share a Prometheus and a Grafana: each has rules and dashboards for its own namespace.
*/}}

{{/* Labels of an object, with those that a monitoring selects by; they win. Takes (list root additional). */}}
{{- define "nashdex.monitoringLabels" -}}
{{- merge (dict) (index . 1) (include "nashdex.labels" (list (index . 0) "monitoring") | fromYaml) | toYaml -}}
{{- end -}}

{{/* Whether a rule is left out. Takes (list root rule). */}}
{{- define "nashdex.leavesOut" -}}
{{- $root := index . 0 -}}
{{- with (index . 1).alert -}}
{{- $needsExporter := list "NashdexExporterDown" "NashdexRunStalled" -}}
{{- if index $root.Values.prometheusRule.disabled . -}}true
{{- else if and (has . $needsExporter) (not $root.Values.exporter.enabled) -}}true
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A rule that sees only the release's namespace, as JSON. Takes (list root rule). */}}
{{- define "nashdex.ownRule" -}}
{{- $root := index . 0 -}}
{{- $rule := deepCopy (index . 1) -}}
{{- if not $root.Values.prometheusRule.allNamespaces -}}
{{- $own := printf "label_replace(vector(1), \"namespace\", \"%s\", \"\", \"\")" $root.Release.Namespace -}}
{{- $_ := set $rule "expr" (printf "(\n%s\n)\nand on (namespace) %s\n" (trim $rule.expr) $own) -}}
{{- end -}}
{{- toJson $rule -}}
{{- end -}}

{{/* A dashboard with a uid and a title of this namespace, which it shows first. Takes (list root dashboard). */}}
{{- define "nashdex.ownDashboard" -}}
{{- $namespace := (index . 0).Release.Namespace -}}
{{- $dashboard := index . 1 -}}
{{- $_ := set $dashboard "uid" (printf "%s-%s" $dashboard.uid (sha256sum $namespace | trunc 8)) -}}
{{- $_ := set $dashboard "title" (printf "%s (%s)" $dashboard.title $namespace) -}}
{{- range $dashboard.templating.list -}}
{{- if eq .name "namespace" }}{{ $_ := set . "current" (dict "selected" true "text" (list $namespace) "value" (list $namespace)) }}{{ end -}}
{{- end -}}
{{- toPrettyJson $dashboard -}}
{{- end -}}

{{- define "nashdex.refuseUnknownAlerts" -}}
{{- $known := list -}}
{{- range $path, $_ := .Files.Glob "files/rules/*.yaml" -}}
{{- range ($.Files.Get $path | fromYaml).groups }}{{ range .rules }}{{ with .alert }}{{ $known = append $known . }}{{ end }}{{ end }}{{ end -}}
{{- end -}}
{{- range $name, $_ := .Values.prometheusRule.disabled -}}
{{- if not (has $name $known) -}}
{{- fail (printf "\n\nprometheusRule.disabled names %s, which is no alert of the chart. Expected one of %s.\n" $name (join ", " (sortAlpha $known))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
