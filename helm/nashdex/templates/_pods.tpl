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

{{/* Registry credentials of pods without a service account of nashdex. */}}
{{- define "nashdex.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Of Argo's containers, which write to their root file system. */}}
{{- define "nashdex.executorSecurity" -}}
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Scheduling of a pod. Takes a component's values. */}}
{{- define "nashdex.scheduling" -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" "runtimeClassName" "topologySpreadConstraints" "terminationGracePeriodSeconds" }}
{{- with index $ $key }}
{{ $key }}: {{ toJson . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* More labels of a pod, without those that are the chart's own. Takes a component's values. */}}
{{- define "nashdex.morePodLabels" -}}
{{- with omit .podLabels "app.kubernetes.io/name" "app.kubernetes.io/component" "app.kubernetes.io/part-of" }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/*
Annotations of a pod. Those against eviction are of the cluster autoscaler and of Karpenter; a PodDisruptionBudget would
block drains forever, because Argo's pods have no owner with a scale. Takes a component's values.
*/}}
{{- define "nashdex.podAnnotations" -}}
{{- $annotations := dict -}}
{{- if .protectFromEviction -}}
{{- $_ := set $annotations "cluster-autoscaler.kubernetes.io/safe-to-evict" "false" -}}
{{- $_ := set $annotations "karpenter.sh/do-not-disrupt" "true" -}}
{{- end -}}
{{- with merge (dict) .podAnnotations $annotations }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/* Environment variables of the store's address. */}}
{{- define "nashdex.storeEnv" -}}
- {name: AWS_ENDPOINT_URL, valueFrom: {configMapKeyRef: {name: nashdex-site, key: s3-endpoint}}}
- {name: AWS_REGION, valueFrom: {configMapKeyRef: {name: nashdex-site, key: s3-region}}}
{{- end -}}

{{/* Optional, as for the steps: a process without keys exits and says so; a pod without its Secret waits forever. */}}
{{- define "nashdex.storeEnvFrom" -}}
- secretRef: {name: {{ include "nashdex.storeSecret" . | quote }}, optional: true}
{{- end -}}

{{/* Requests and limits, if any, as JSON. Takes a container's values. */}}
{{- define "nashdex.resources" -}}
{{- $resources := dict -}}
{{- with .requests }}{{ $_ := set $resources "requests" . }}{{ end -}}
{{- with .limits }}{{ $_ := set $resources "limits" . }}{{ end -}}
{{- toJson $resources -}}
{{- end -}}

{{/*
Sidecars of players of other programs, as JSON: native ones, which Kubernetes starts first, starts again and ends last.
A Showdown server comes before a player by websocket. Takes (dict players pullPolicy server).
*/}}
{{- define "nashdex.playerSidecars" -}}
{{- $pullPolicy := .pullPolicy -}}
{{- $image := .server -}}
{{- $sidecars := list -}}
{{- range .players -}}
{{- if .username -}}
{{- $port := int .port | toString -}}
{{- $name := printf "player-%s-server" .name -}}
{{- $server := dict "name" $name "image" $image "imagePullPolicy" $pullPolicy "restartPolicy" "Always" -}}
{{- $_ := set $server "command" (list "nashdex-showdown") -}}
{{- $_ := set $server "args" (list "server" "--host" "127.0.0.1" "--port" $port) -}}
{{- $_ := set $server "securityContext" (include "nashdex.containerSecurity" . | fromYaml) -}}
{{- $_ := set $server "volumeMounts" (list (dict "name" $name "mountPath" "/tmp")) -}}
{{- $listens := printf "require('net').connect(%s, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(1))" $port -}}
{{- $_ := set $server "startupProbe" (dict "exec" (dict "command" (list "node" "-e" $listens)) "periodSeconds" 2 "timeoutSeconds" 10 "failureThreshold" 60) -}}
{{- $sidecars = append $sidecars $server -}}
{{- end -}}
{{- $sidecar := dict "name" (printf "player-%s" .name) "image" .image "imagePullPolicy" $pullPolicy "restartPolicy" "Always" -}}
{{- $_ := set $sidecar "securityContext" (include "nashdex.containerSecurity" . | fromYaml) -}}
{{- $_ := set $sidecar "volumeMounts" (list (dict "name" (printf "player-%s" .name) "mountPath" "/tmp")) -}}
{{- with .command }}{{ $_ := set $sidecar "command" . }}{{ end -}}
{{- with .args }}{{ $_ := set $sidecar "args" . }}{{ end -}}
{{- with .env }}{{ $_ := set $sidecar "env" . }}{{ end -}}
{{- with include "nashdex.resources" (.resources | default dict) | fromJson }}{{ $_ := set $sidecar "resources" . }}{{ end -}}
{{- $sidecars = append $sidecars $sidecar -}}
{{- end -}}
{{- toJson $sidecars -}}
{{- end -}}

{{/*
A step's podSpecPatch: JSON that Argo merges into the pods of its WorkflowTemplate, containers and volumes by name.
Takes (dict values executor pullPolicy server), and optionally the step's gpus and volumes.
*/}}
{{- define "nashdex.podPatch" -}}
{{- $main := dict "name" "main" -}}
{{- $limits := merge (dict) (.gpus | default dict) .values.resources.limits -}}
{{- with include "nashdex.resources" (dict "requests" .values.resources.requests "limits" $limits) | fromJson }}{{ $_ := set $main "resources" . }}{{ end -}}
{{- $players := .values.players | default list -}}
{{- $declared := list -}}
{{- $environment := .values.extraEnv -}}
{{- $mounts := .values.extraVolumeMounts -}}
{{- if $players -}}
{{- $environment = append $environment (dict "name" "NASHDEX_PLAYERS" "value" "/etc/nashdex/players.toml") -}}
{{- $mounts = append $mounts (dict "name" "players" "mountPath" "/etc/nashdex" "readOnly" true) -}}
{{- $declared = list (dict "name" "players" "configMap" (dict "name" "nashdex-players")) -}}
{{- range $players -}}
{{- $declared = append $declared (dict "name" (printf "player-%s" .name) "emptyDir" dict) -}}
{{- if .username }}{{ $declared = append $declared (dict "name" (printf "player-%s-server" .name) "emptyDir" dict) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- with $environment }}{{ $_ := set $main "env" . }}{{ end -}}
{{- with $mounts }}{{ $_ := set $main "volumeMounts" . }}{{ end -}}
{{- $sidecar := dict "name" "showdown" -}}
{{- with .values.showdown -}}
{{- with include "nashdex.resources" .resources | fromJson }}{{ $_ := set $sidecar "resources" . }}{{ end -}}
{{- end -}}
{{- $argo := dict -}}
{{- if .executor.restricted }}{{ $_ := set $argo "securityContext" (include "nashdex.executorSecurity" . | fromYaml) }}{{ end -}}
{{- with include "nashdex.resources" .executor.resources | fromJson }}{{ $_ := set $argo "resources" . }}{{ end -}}
{{- $containers := list -}}
{{- range $container := list $main $sidecar (merge (dict "name" "wait") $argo) -}}
{{- if gt (len $container) 1 }}{{ $containers = append $containers $container }}{{ end -}}
{{- end -}}
{{- $patch := dict -}}
{{- with $containers }}{{ $_ := set $patch "containers" . }}{{ end -}}
{{- $first := include "nashdex.playerSidecars" (dict "players" $players "pullPolicy" .pullPolicy "server" .server) | fromJsonArray -}}
{{- with $argo }}{{ $first = prepend $first (merge (dict "name" "init") .) }}{{ end -}}
{{- with $first }}{{ $_ := set $patch "initContainers" . }}{{ end -}}
{{- with concat (.volumes | default list) $declared .values.extraVolumes }}{{ $_ := set $patch "volumes" . }}{{ end -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" "runtimeClassName" "topologySpreadConstraints" "terminationGracePeriodSeconds" -}}
{{- with index $.values $key }}{{ $_ := set $patch $key . }}{{ end -}}
{{- end -}}
{{- toJson $patch -}}
{{- end -}}

{{/*
The league's podSpecPatch: the scheduling of the control pods. Its main container is Argo's, and it has no `wait`. Takes
the chart's values.
*/}}
{{- define "nashdex.leaguePodPatch" -}}
{{- $argo := dict -}}
{{- with .argo.executor -}}
{{- if .restricted }}{{ $_ := set $argo "securityContext" (include "nashdex.executorSecurity" . | fromYaml) }}{{ end -}}
{{- with include "nashdex.resources" .resources | fromJson }}{{ $_ := set $argo "resources" . }}{{ end -}}
{{- end -}}
{{- $patch := dict -}}
{{- with $argo }}
{{- $_ := set $patch "containers" (list (merge (dict "name" "main") .)) }}
{{- $_ := set $patch "initContainers" (list (merge (dict "name" "init") .)) }}
{{- end -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" "runtimeClassName" "topologySpreadConstraints" "terminationGracePeriodSeconds" -}}
{{- with index $.control $key }}{{ $_ := set $patch $key . }}{{ end -}}
{{- end -}}
{{- toJson $patch -}}
{{- end -}}
