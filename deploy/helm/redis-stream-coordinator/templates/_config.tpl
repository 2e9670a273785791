{{/*
The configuration file, one for all parts (each ignores the keys of the others). It holds no
secret: those are files that variables with _FILE point to.
*/}}
{{- define "rsc.config" -}}
{{- $values := .Values -}}
{{- $gateway := include "rsc.url" (dict "root" . "part" "gateway") -}}
{{- $coordinator := include "rsc.url" (dict "root" . "part" "coordinator") -}}
{{- $fixed := dict
  "listen" (printf ":%s" (include "rsc.port" (dict "part" "coordinator")))
  "metrics-listen" (printf ":%s" (include "rsc.metricsPort" (dict "part" "coordinator")))
  "shutdown-timeout" (printf "%ds" (int $values.coordinator.shutdownSeconds))
  "api" (dict "jwks-url" (printf "%s/.well-known/jwks.json" $gateway))
  "gateway" (dict
    "listen" (printf ":%s" (include "rsc.port" (dict "part" "gateway")))
    "metrics-listen" (printf ":%s" (include "rsc.metricsPort" (dict "part" "gateway")))
    "shutdown-timeout" (printf "%ds" (int $values.gateway.shutdownSeconds))
    "coordinators" (list $coordinator)
    "monitor" (include "rsc.url" (dict "root" . "part" "monitor"))
    "web" (ternary (include "rsc.url" (dict "root" . "part" "web")) "" $values.web.enabled))
  "monitor" (dict
    "listen" (printf ":%s" (include "rsc.port" (dict "part" "monitor")))
    "metrics-listen" (printf ":%s" (include "rsc.metricsPort" (dict "part" "monitor")))
    "shutdown-timeout" (printf "%ds" (int $values.monitor.shutdownSeconds))
    "coordinator" $coordinator)
  "web" (dict
    "listen" (printf ":%s" (include "rsc.port" (dict "part" "web")))
    "metrics-listen" (printf ":%s" (include "rsc.metricsPort" (dict "part" "web")))
    "shutdown-timeout" (printf "%ds" (int $values.web.shutdownSeconds))
    "gateway" $gateway)
  "redis" (include "rsc.config.redis" . | fromYaml)
  "store" (include "rsc.config.store" . | fromYaml)
  "audit" (include "rsc.config.audit" . | fromYaml)
-}}
coordinator:
  {{- mustMergeOverwrite (deepCopy $values.settings) $fixed | toYaml | nindent 2 }}
{{- end -}}

{{/* Where Redis is; with a URL its file says so. */}}
{{- define "rsc.config.redis" -}}
{{- $redis := .Values.redis -}}
{{- if not (or $redis.url $redis.existingSecret) }}
{{- with $redis.host }}
host: {{ . | quote }}
port: {{ int $redis.port }}
{{- end }}
{{- with $redis.addresses }}
addresses: {{ toJson . }}
{{- end }}
cluster: {{ $redis.cluster }}
{{- with $redis.masterName }}
master-name: {{ . | quote }}
{{- end }}
database: {{ int $redis.database }}
{{- end }}
{{- with $redis.auth.username }}
username: {{ . | quote }}
{{- end }}
{{- with $redis.auth.sentinelUsername }}
sentinel-username: {{ . | quote }}
{{- end }}
pool-size: {{ int $redis.poolSize }}
{{- if $redis.tls.enabled }}
tls: true
{{- if or $redis.tls.caSecret $redis.tls.caConfigMap }}
tls-ca-file: /etc/rsc/redis-ca/ca.crt
{{- end }}
{{- end }}
{{- end -}}

{{- define "rsc.config.store" -}}
type: {{ .Values.store.type }}
{{- if include "rsc.database" (dict "root" . "part" "coordinator") }}
postgres: {{- include "rsc.config.postgres" .Values.store.postgres | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "rsc.config.audit" -}}
{{- if include "rsc.database" (dict "root" . "part" "gateway") -}}
postgres: {{- include "rsc.config.postgres" .Values.audit.postgres | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where PostgreSQL is; with a URL its file says so. */}}
{{- define "rsc.config.postgres" -}}
pool-size: {{ int .poolSize }}
{{- if .host }}
host: {{ .host | quote }}
port: {{ int .port }}
database: {{ .database | quote }}
username: {{ .username | quote }}
tls-mode: {{ .tlsMode }}
{{- if or .caSecret .caConfigMap }}
tls-ca-file: /etc/rsc/postgres-ca/ca.crt
{{- end }}
{{- end }}
{{- end -}}
