{{/*
Names and labels. Templates of parts take a dict: root is the chart's scope, part one of
coordinator, gateway, monitor and web.
*/}}

{{- define "rsc.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default "rsc" .Values.nameOverride -}}
{{- if or (contains $name .Release.Name) (contains .Chart.Name .Release.Name) -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "rsc.name" -}}
{{- printf "%s-%s" (include "rsc.fullname" .root) .part -}}
{{- end -}}

{{/* What never changes: a Deployment's selector cannot be changed. */}}
{{- define "rsc.selector" -}}
app.kubernetes.io/name: redis-stream-coordinator
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "rsc.labels" -}}
app.kubernetes.io/name: redis-stream-coordinator
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: redis-stream-coordinator
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "rsc.partLabels" -}}
{{ include "rsc.labels" .root }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{/* What pods are found by. A new version of the chart alone replaces no pod. */}}
{{- define "rsc.podLabels" -}}
{{ include "rsc.selector" . }}
app.kubernetes.io/part-of: redis-stream-coordinator
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "rsc.image" -}}
{{- $image := .root.Values.image -}}
{{- $tag := default .root.Chart.AppVersion $image.tag -}}
{{- printf "%s/%s:%s" (trimAll "/" $image.repository) .binary $tag | printf "%s%s" (ternary "" (printf "%s/" (trimSuffix "/" $image.registry)) (empty $image.registry)) -}}
{{- end -}}

{{/* The ports, which are the defaults of the services. */}}
{{- define "rsc.port" -}}
{{- get (dict "gateway" 8080 "coordinator" 8081 "monitor" 8082 "web" 8083) .part -}}
{{- end -}}

{{- define "rsc.metricsPort" -}}
{{- get (dict "gateway" 9080 "coordinator" 9081 "monitor" 9082 "web" 9083) .part -}}
{{- end -}}

{{- define "rsc.url" -}}
{{- printf "http://%s:%s" (include "rsc.name" .) (include "rsc.port" .) -}}
{{- end -}}

{{/* The parts that run, as a JSON list. */}}
{{- define "rsc.parts" -}}
{{- if .Values.web.enabled -}}
{{- list "coordinator" "gateway" "monitor" "web" | toJson -}}
{{- else -}}
{{- list "coordinator" "gateway" "monitor" | toJson -}}
{{- end -}}
{{- end -}}

{{/*
The section whose PostgreSQL a part uses: coordinators have the metadata in it with store.type
postgres, gateways the audit with settings.audit.sink postgres. Others have none.
*/}}
{{- define "rsc.database" -}}
{{- if and (eq .part "coordinator") (eq .root.Values.store.type "postgres") -}}store
{{- else if and (eq .part "gateway") (eq (dig "audit" "sink" "" .root.Values.settings) "postgres") -}}audit
{{- end -}}
{{- end -}}
