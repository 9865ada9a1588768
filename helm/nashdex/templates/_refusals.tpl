{{/*
What cannot work is refused here, before anything is made, each with one message. What can be seen of the cluster is
only looked at where there is one: `helm template` without a server renders all.
*/}}
{{- define "nashdex.refusals" -}}
{{- include "nashdex.refuseContradictions" . -}}
{{- if include "nashdex.live" . -}}
{{- include "nashdex.refuseWithoutArgo" . -}}
{{- include "nashdex.refuseSecondRelease" . -}}
{{- include "nashdex.refuseWithoutSecret" . -}}
{{- end -}}
{{- end -}}

{{/* Whether there is a cluster: its aggregation layer is not among what Helm assumes without one. */}}
{{- define "nashdex.live" -}}
{{- if .Capabilities.APIVersions.Has "apiregistration.k8s.io/v1" }}true{{ end -}}
{{- end -}}

{{/* Whether objects of the prometheus-operator can be made; without a cluster, that is assumed. */}}
{{- define "nashdex.hasMonitoring" -}}
{{- if or (not (include "nashdex.live" .)) (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1") }}true{{ end -}}
{{- end -}}

{{- define "nashdex.refuseContradictions" -}}
{{- $store := .Values.objectStore -}}
{{- if and $store.embedded.enabled $store.uri -}}
{{- fail (printf "\n\nobjectStore.uri is %s and objectStore.embedded.enabled is true: runs have one place. Set objectStore.embedded.enabled=false for the bucket, or leave out the URI.\n" $store.uri) -}}
{{- end -}}
{{- if and $store.embedded.enabled $store.endpoint -}}
{{- fail "\n\nobjectStore.endpoint is set and objectStore.embedded.enabled is true: the embedded server has its own. Set objectStore.embedded.enabled=false, or leave out the endpoint.\n" -}}
{{- end -}}
{{- if not (or $store.embedded.enabled $store.uri) -}}
{{- fail "\n\nThere is no place for runs: set objectStore.uri=s3://bucket/prefix, or objectStore.embedded.enabled=true.\n" -}}
{{- end -}}
{{- if and (eq .Values.queueing.mode "kueue") (not .Values.queueing.kueue.localQueue) -}}
{{- fail "\n\nqueueing.mode is kueue, and no queue is named: set queueing.kueue.localQueue to a LocalQueue of the namespace.\n" -}}
{{- end -}}
{{- if and (eq .Values.queueing.mode "semaphore") .Values.queueing.kueue.localQueue -}}
{{- fail "\n\nqueueing.kueue.localQueue is set, and queueing.mode is semaphore: pods wait in one of the two. Set queueing.mode=kueue, or leave out the queue.\n" -}}
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

{{- define "nashdex.refuseSecondRelease" -}}
{{- with lookup "v1" "ConfigMap" .Release.Namespace "nashdex-site" -}}
{{- $owner := index (.metadata.annotations | default dict) "meta.helm.sh/release-name" -}}
{{- if not $owner -}}
{{- fail (printf "\n\nNamespace %s has nashdex already, made without Helm: a namespace has one. Remove it (kubectl delete -k), or choose another namespace.\n" $.Release.Namespace) -}}
{{- else if ne $owner $.Release.Name -}}
{{- fail (printf "\n\nNamespace %s has nashdex already, as release %s: a namespace has one. Upgrade that (helm upgrade %s), or choose another namespace.\n" $.Release.Namespace $owner $owner) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "nashdex.refuseWithoutSecret" -}}
{{- with .Values.objectStore.existingSecret -}}
{{- $secret := lookup "v1" "Secret" $.Release.Namespace . -}}
{{- $create := printf "kubectl create secret generic %s -n %s --from-literal=AWS_ACCESS_KEY_ID=… --from-literal=AWS_SECRET_ACCESS_KEY=…" . $.Release.Namespace -}}
{{- if not $secret -}}
{{- fail (printf "\n\nNamespace %s has no Secret %s, which objectStore.existingSecret names. Make it: %s\n" $.Release.Namespace . $create) -}}
{{- end -}}
{{- $absent := list -}}
{{- range $key := list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" -}}
{{- if not (hasKey ($secret.data | default dict) $key) }}{{ $absent = append $absent $key }}{{ end -}}
{{- end -}}
{{- if $absent -}}
{{- fail (printf "\n\nSecret %s of namespace %s lacks %s. Make it anew: %s\n" . $.Release.Namespace (join " and " $absent) $create) -}}
{{- end -}}
{{- end -}}
{{- end -}}
