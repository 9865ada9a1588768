{{/* Restricted pod security. */}}
{{- define "nashdex.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "nashdex.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Registry credentials of pods that have no service account of nashdex's. */}}
{{- define "nashdex.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Where a pod may run. Takes a component's values. */}}
{{- define "nashdex.scheduling" -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" "runtimeClassName" }}
{{- with index $ $key }}
{{ $key }}: {{ toJson . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Where a process finds the store. */}}
{{- define "nashdex.storeEnv" -}}
- {name: AWS_ENDPOINT_URL, valueFrom: {configMapKeyRef: {name: nashdex-site, key: s3-endpoint}}}
- {name: AWS_REGION, valueFrom: {configMapKeyRef: {name: nashdex-site, key: s3-region}}}
- {name: AWS_DEFAULT_REGION, valueFrom: {configMapKeyRef: {name: nashdex-site, key: s3-region}}}
{{- end -}}

{{- define "nashdex.storeEnvFrom" -}}
- secretRef: {name: {{ include "nashdex.storeSecret" . | quote }}, optional: {{ not (or .Values.objectStore.existingSecret .Values.objectStore.embedded.enabled) }}}
{{- end -}}

{{/*
A step's podSpecPatch: JSON that Argo merges into the pods of its WorkflowTemplate, containers and volumes by name.
Takes a component's values, and as .limits what the step's container has besides.
*/}}
{{- define "nashdex.podPatch" -}}
{{- $main := dict "name" "main" -}}
{{- $resources := dict -}}
{{- with .resources.requests }}{{ $_ := set $resources "requests" . }}{{ end -}}
{{- with merge (dict) (.gpuLimits | default dict) .resources.limits }}{{ $_ := set $resources "limits" . }}{{ end -}}
{{- with $resources }}{{ $_ := set $main "resources" . }}{{ end -}}
{{- with .extraEnv }}{{ $_ := set $main "env" . }}{{ end -}}
{{- with .extraVolumeMounts }}{{ $_ := set $main "volumeMounts" . }}{{ end -}}
{{- $containers := list -}}
{{- if gt (len $main) 1 }}{{ $containers = append $containers $main }}{{ end -}}
{{- with .showdown -}}
{{- $sidecar := dict -}}
{{- with .resources.requests }}{{ $_ := set $sidecar "requests" . }}{{ end -}}
{{- with .resources.limits }}{{ $_ := set $sidecar "limits" . }}{{ end -}}
{{- with $sidecar }}{{ $containers = append $containers (dict "name" "showdown" "resources" .) }}{{ end -}}
{{- end -}}
{{- $patch := dict -}}
{{- with $containers }}{{ $_ := set $patch "containers" . }}{{ end -}}
{{- with concat (.sharedVolumes | default list) .extraVolumes }}{{ $_ := set $patch "volumes" . }}{{ end -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" "runtimeClassName" -}}
{{- with index $ $key }}{{ $_ := set $patch $key . }}{{ end -}}
{{- end -}}
{{- toJson $patch -}}
{{- end -}}
