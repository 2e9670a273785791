{{/* The ports of Redis that pods must reach, as a JSON list of numbers. */}}
{{- define "rsc.redisPorts" -}}
{{- $redis := .Values.redis -}}
{{- $ports := list -}}
{{- if .Values.networkPolicy.redis.ports -}}
{{- range .Values.networkPolicy.redis.ports -}}{{- $ports = append $ports (int .) -}}{{- end -}}
{{- else if $redis.url -}}
{{- $sentinel := hasPrefix "redis+sentinel" $redis.url -}}
{{- $hosts := regexReplaceAll "^[a-z+]+://" $redis.url "" | splitList "@" | last | splitList "/" | first | splitList "?" | first -}}
{{- range splitList "," $hosts -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default (ternary "26379" "6379" $sentinel) | int) -}}
{{- end -}}
{{- if $sentinel -}}{{- $ports = append $ports (int $redis.port) -}}{{- end -}}
{{- else if $redis.addresses -}}
{{- range $redis.addresses -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | int) -}}
{{- end -}}
{{- if $redis.masterName -}}{{- $ports = append $ports (int $redis.port) -}}{{- end -}}
{{- else -}}
{{- $ports = append $ports (int $redis.port) -}}
{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end -}}

{{/* The ports of PostgreSQL that a part must reach; section is that of rsc.database. */}}
{{- define "rsc.postgresPorts" -}}
{{- $ports := list -}}
{{- range .root.Values.networkPolicy.postgres.ports -}}{{- $ports = append $ports (int .) -}}{{- end -}}
{{- if not $ports -}}
{{- $postgres := get (index .root.Values .section) "postgres" -}}
{{- $hosts := regexReplaceAll "^[a-z]+://" $postgres.url "" | splitList "@" | last | splitList "/" | first | splitList "?" | first -}}
{{- range splitList "," $hosts -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default (toString (int $postgres.port)) | int) -}}
{{- end -}}
{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end -}}

{{- define "rsc.tracesPorts" -}}
{{- $endpoint := dig "telemetry" "traces-endpoint" "" .Values.settings -}}
{{- if .Values.networkPolicy.traces.ports -}}
{{- $ports := list -}}
{{- range .Values.networkPolicy.traces.ports -}}{{- $ports = append $ports (int .) -}}{{- end -}}
{{- $ports | uniq | toJson -}}
{{- else if $endpoint -}}
{{- $host := regexReplaceAll "^https?://" $endpoint "" | splitList "/" | first -}}
{{- $default := ternary "443" "80" (hasPrefix "https" $endpoint) -}}
{{- list (regexFind ":[0-9]+$" $host | trimPrefix ":" | default $default | int) | toJson -}}
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/* One entry of egress to others: to is a list of peers, ports a JSON list. */}}
{{- define "rsc.outwards" -}}
- ports:
    {{- range .ports | fromJsonArray }}
    - {protocol: TCP, port: {{ int . }}}
    {{- end }}
  {{- with .to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
