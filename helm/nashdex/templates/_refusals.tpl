{{/*
Reject what cannot work before anything is created, each with one message. The cluster's objects are checked only if
`lookup` finds any: `helm template` and GitOps tools render without a connection to the cluster.
*/}}
{{- define "nashdex.refusals" -}}
{{- include "nashdex.refuseContradictions" . -}}
{{- include "nashdex.refuseUnknownAlerts" . -}}
{{- if include "nashdex.live" . -}}
{{- include "nashdex.refuseWithoutArgo" . -}}
{{- include "nashdex.refuseWithoutKueue" . -}}
{{- include "nashdex.refuseSecondRelease" . -}}
{{- include "nashdex.refuseWithoutSecret" . -}}
{{- end -}}
{{- end -}}

{{/* Whether the API versions are a cluster's: without one, Helm's defaults lack the aggregation layer. */}}
{{- define "nashdex.live" -}}
{{- if .Capabilities.APIVersions.Has "apiregistration.k8s.io/v1" }}true{{ end -}}
{{- end -}}

{{/*
Whether `lookup` sees the namespace, where every cluster has this ConfigMap. It does not before the namespace exists,
nor in Argo CD, which passes the cluster's API versions but no connection.
*/}}
{{- define "nashdex.canLookUp" -}}
{{- if lookup "v1" "ConfigMap" .Release.Namespace "kube-root-ca.crt" }}true{{ end -}}
{{- end -}}

{{/* Whether objects of the prometheus-operator can be created; assumed without a cluster. */}}
{{- define "nashdex.hasMonitoring" -}}
{{- if or (not (include "nashdex.live" .)) (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1") }}true{{ end -}}
{{- end -}}

{{- define "nashdex.refuseContradictions" -}}
{{- $store := .Values.objectStore -}}
{{- if and $store.embedded.enabled $store.uri -}}
{{- fail (printf "\n\nobjectStore.uri is %s and objectStore.embedded.enabled is true: runs are stored in one place. Set objectStore.embedded.enabled=false to use the bucket, or remove the URI.\n" $store.uri) -}}
{{- end -}}
{{- if and $store.embedded.enabled $store.endpoint -}}
{{- fail "\n\nobjectStore.endpoint is set and objectStore.embedded.enabled is true: the embedded server has its own endpoint. Set objectStore.embedded.enabled=false, or remove the endpoint.\n" -}}
{{- end -}}
{{- if not (or $store.embedded.enabled $store.uri) -}}
{{- fail "\n\nRuns have no store: set objectStore.uri=s3://bucket/prefix, or objectStore.embedded.enabled=true.\n" -}}
{{- end -}}
{{- $seen := dict "7400" "the gateway" "7401" "the gateway" "9090" "the step" -}}
{{- range $player := .Values.evaluate.players -}}
{{- with get $seen (int .port | toString) -}}
{{- fail (printf "\n\nevaluate.players: %s listens at the same port as %s. Give each a port of its own.\n" $player.name .) -}}
{{- end -}}
{{- if hasKey $seen .name }}{{ fail (printf "\n\nevaluate.players names %s twice. Rename one.\n" .name) }}{{ end -}}
{{- $_ := set $seen .name "a player" -}}
{{- $_ := set $seen (int .port | toString) .name -}}
{{- end -}}
{{- range .Values.evaluate.extraEnv -}}
{{- if and $.Values.evaluate.players (eq .name "NASHDEX_PLAYERS") -}}
{{- fail "\n\nevaluate.extraEnv sets NASHDEX_PLAYERS, and evaluate.players declares players. Use one of them.\n" -}}
{{- end -}}
{{- end -}}
{{- $kueue := .Values.queueing.kueue -}}
{{- $queues := $kueue.localQueues -}}
{{- if and (eq .Values.queueing.mode "kueue") (not $kueue.localQueue) (not (and $queues.gpu $queues.cpu)) -}}
{{- fail "\n\nqueueing.mode is kueue, but no queue is set: set queueing.kueue.localQueue to a LocalQueue of the namespace, or queueing.kueue.localQueues.gpu and .cpu.\n" -}}
{{- end -}}
{{- if and $queues.control (eq $queues.control ($queues.cpu | default $kueue.localQueue)) (not $kueue.priorityClasses.control) -}}
{{- fail (printf "\n\nqueueing.kueue.localQueues.control is %s, where collectors wait too: verdicts would wait behind them. Choose another queue, or set queueing.kueue.priorityClasses.control to a WorkloadPriorityClass above the others'.\n" $queues.control) -}}
{{- end -}}
{{- if and (eq .Values.queueing.mode "semaphore") (or $kueue.localQueue $queues.gpu $queues.cpu $queues.control) -}}
{{- fail "\n\nqueueing.kueue names a LocalQueue, but queueing.mode is semaphore. Set queueing.mode=kueue, or empty queueing.kueue.localQueue and queueing.kueue.localQueues.\n" -}}
{{- end -}}
{{- end -}}

{{- define "nashdex.refuseWithoutArgo" -}}
{{- $missing := list -}}
{{- range $kind := list "Workflow" "WorkflowTemplate" "WorkflowTaskResult" -}}
{{- if not ($.Capabilities.APIVersions.Has (printf "argoproj.io/v1alpha1/%s" $kind)) }}{{ $missing = append $missing $kind }}{{ end -}}
{{- end -}}
{{- if $missing -}}
{{- fail (printf "\n\nThe cluster has no Argo Workflows: the CustomResourceDefinition of %s is missing. Install Argo Workflows 3.7 or later, then nashdex.\n" (join ", " $missing)) -}}
{{- end -}}
{{- with .Values.argo.namespace -}}
{{- range (lookup "apps/v1" "Deployment" . "").items -}}
{{- range .spec.template.spec.containers -}}
{{- $version := regexFind "[0-9]+\\.[0-9]+\\.[0-9]+" (regexFind "/workflow-controller:v[0-9.]+" .image) -}}
{{- if and $version (semverCompare "<3.7.0" $version) -}}
{{- fail (printf "\n\nThe cluster has Argo Workflows %s; nashdex needs 3.7 or later (lists of mutexes and semaphores). Upgrade Argo, then install nashdex.\n" $version) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "nashdex.refuseWithoutKueue" -}}
{{- $hasKueue := false -}}
{{- range $version := list "v1beta1" "v1beta2" "v1" -}}
{{- if $.Capabilities.APIVersions.Has (printf "kueue.x-k8s.io/%s" $version) }}{{ $hasKueue = true }}{{ end -}}
{{- end -}}
{{- if and (eq .Values.queueing.mode "kueue") (not $hasKueue) -}}
{{- fail "\n\nqueueing.mode is kueue, but the cluster has no Kueue: nothing would limit how many pods run. Install Kueue, or leave queueing.mode as semaphore.\n" -}}
{{- end -}}
{{- end -}}

{{- define "nashdex.refuseSecondRelease" -}}
{{- with lookup "v1" "ConfigMap" .Release.Namespace "nashdex-site" -}}
{{- $owner := index (.metadata.annotations | default dict) "meta.helm.sh/release-name" -}}
{{- if not $owner -}}
{{- fail (printf "\n\nNamespace %s already has nashdex, installed without Helm, and a namespace can have only one. Remove it (kubectl delete -k), or choose another namespace.\n" $.Release.Namespace) -}}
{{- else if ne $owner $.Release.Name -}}
{{- fail (printf "\n\nNamespace %s already has nashdex, as release %s, and a namespace can have only one. Upgrade it (helm upgrade %s), or choose another namespace.\n" $.Release.Namespace $owner $owner) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "nashdex.refuseWithoutSecret" -}}
{{- if include "nashdex.canLookUp" . -}}
{{- with .Values.objectStore.existingSecret -}}
{{- $secret := lookup "v1" "Secret" $.Release.Namespace . -}}
{{- $create := printf "kubectl create secret generic %s -n %s --from-literal=AWS_ACCESS_KEY_ID=… --from-literal=AWS_SECRET_ACCESS_KEY=…" . $.Release.Namespace -}}
{{- if not $secret -}}
{{- fail (printf "\n\nNamespace %s has no Secret %s, which objectStore.existingSecret names. Create it: %s\n" $.Release.Namespace . $create) -}}
{{- end -}}
{{- $absent := list -}}
{{- range $key := list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" -}}
{{- if not (hasKey ($secret.data | default dict) $key) }}{{ $absent = append $absent $key }}{{ end -}}
{{- end -}}
{{- if $absent -}}
{{- fail (printf "\n\nSecret %s of namespace %s lacks %s. Delete it and create it again: %s\n" . $.Release.Namespace (join " and " $absent) $create) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
