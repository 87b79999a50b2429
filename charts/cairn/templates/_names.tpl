{{- /* The prefix of all names: the release's name, with "cairn" in it. */ -}}
{{- define "cairn.fullname" -}}
{{- if contains "cairn" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-cairn" (.Release.Name | trunc 34 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{- define "cairn.labels" -}}
app.kubernetes.io/name: cairn
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- /* The labels that select the pods of a component: {"root": $, "component": "operator"}. */ -}}
{{- define "cairn.selector" -}}
app.kubernetes.io/name: cairn
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- /* The name of the objects of the chart's MinIO. */ -}}
{{- define "cairn.minio" -}}
{{- printf "%s-minio" (include "cairn.fullname" .) -}}
{{- end -}}

{{- /* The Secret with the key of MinIO's administrator. */ -}}
{{- define "cairn.minioSecret" -}}
{{- .Values.minio.existingSecret | default (include "cairn.minio" .) -}}
{{- end -}}

{{- /* The default storage, as YAML: that of the values, or the chart's MinIO. */ -}}
{{- define "cairn.storage" -}}
{{- if .Values.minio.enabled -}}
{{- if or .Values.storage.s3.bucket .Values.storage.s3.endpoint -}}
{{- fail "storage.s3 and minio.enabled are both set: choose one" -}}
{{- end -}}
{{- if kindIs "map" .Values.storage.s3.webIdentity -}}
{{- fail "storage.s3.webIdentity and minio.enabled are both set: choose one (the chart's MinIO supports users with keys only)" -}}
{{- end -}}
{{- $minio := dict "endpoint" (printf "http://%s.%s.svc:9000" (include "cairn.minio" .) .Release.Namespace) "bucket" .Values.minio.bucket "region" "us-east-1" "pathStyle" true -}}
{{- mergeOverwrite (deepCopy .Values.storage.s3) $minio | toYaml -}}
{{- else -}}
{{- if and .Values.storage.s3.endpoint (not .Values.storage.s3.bucket) -}}
{{- fail "storage.s3.endpoint is set, but not storage.s3.bucket" -}}
{{- end -}}
{{- $identity := .Values.storage.s3.webIdentity -}}
{{- if and (kindIs "map" $identity) (not .Values.storage.s3.endpoint) (not (get ($identity | default dict) "roleARN")) -}}
{{- fail "storage.s3.webIdentity.roleARN is missing: AWS issues keys only for a role" -}}
{{- end -}}
{{- .Values.storage.s3 | toYaml -}}
{{- end -}}
{{- end -}}

{{- define "cairn.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}
