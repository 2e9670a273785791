{{/*
Which secrets a part gets: rsc.secrets is a YAML list of {env, path, secret, key}. A secret is
a file below /etc/rsc/secrets whose path its variable holds, so that it is neither in the
configuration nor in the environment.
*/}}
{{- define "rsc.secrets" -}}
{{- $values := .root.Values -}}
{{- $full := include "rsc.fullname" .root -}}
{{- if ne .part "web" }}
{{- $redis := $values.redis }}
{{- $own := get (index $values .part) "redis" }}
{{- if $redis.url }}
- {env: RSC_REDIS_URL_FILE, path: redis/url, secret: {{ $full }}-redis, key: url}
{{- else if $redis.existingSecret }}
- {env: RSC_REDIS_URL_FILE, path: redis/url, secret: {{ $redis.existingSecret | quote }}, key: {{ $redis.existingSecretKey | quote }}}
{{- end }}
{{- if $own.existingSecret }}
- {env: RSC_REDIS_PASSWORD_FILE, path: redis/password, secret: {{ $own.existingSecret | quote }}, key: {{ $own.passwordKey | quote }}}
{{- else if $redis.auth.existingSecret }}
- {env: RSC_REDIS_PASSWORD_FILE, path: redis/password, secret: {{ $redis.auth.existingSecret | quote }}, key: {{ $redis.auth.passwordKey | quote }}}
{{- else if $redis.auth.password }}
- {env: RSC_REDIS_PASSWORD_FILE, path: redis/password, secret: {{ $full }}-redis, key: password}
{{- end }}
{{- if and $redis.auth.existingSecret $redis.auth.sentinelPasswordKey }}
- {env: RSC_REDIS_SENTINEL_PASSWORD_FILE, path: redis/sentinel-password, secret: {{ $redis.auth.existingSecret | quote }}, key: {{ $redis.auth.sentinelPasswordKey | quote }}}
{{- else if $redis.auth.sentinelPassword }}
- {env: RSC_REDIS_SENTINEL_PASSWORD_FILE, path: redis/sentinel-password, secret: {{ $full }}-redis, key: sentinel-password}
{{- end }}
{{- with $values.tracing.existingSecret }}
- {env: RSC_TELEMETRY_TRACES_HEADERS_FILE, path: traces-headers, secret: {{ . | quote }}, key: {{ $values.tracing.existingSecretKey | quote }}}
{{- end }}
{{- end }}
{{- $section := include "rsc.database" . }}
{{- if $section }}
{{- $postgres := get (index $values $section) "postgres" }}
{{- $made := printf "%s-%s" $full (ternary "postgres" "audit-postgres" (eq $section "store")) }}
{{- $variable := printf "RSC_%s_POSTGRES" (upper $section) }}
{{- if $postgres.url }}
- {env: {{ $variable }}_URL_FILE, path: postgres/url, secret: {{ $made }}, key: url}
{{- else if and $postgres.existingSecret $postgres.host }}
- {env: {{ $variable }}_PASSWORD_FILE, path: postgres/password, secret: {{ $postgres.existingSecret | quote }}, key: {{ $postgres.passwordKey | quote }}}
{{- else if $postgres.existingSecret }}
- {env: {{ $variable }}_URL_FILE, path: postgres/url, secret: {{ $postgres.existingSecret | quote }}, key: {{ $postgres.existingSecretKey | quote }}}
{{- else if $postgres.password }}
- {env: {{ $variable }}_PASSWORD_FILE, path: postgres/password, secret: {{ $made }}, key: password}
{{- end }}
{{- end }}
{{- if eq .part "gateway" }}
{{- $token := $values.gateway.token }}
{{- $tokenSecret := default (printf "%s-gateway" $full) $token.existingSecret | quote }}
- {env: RSC_API_TOKEN_SECRET_FILE, path: token-secret, secret: {{ $tokenSecret }}, key: {{ ternary $token.key "token-secret" (not (empty $token.existingSecret)) | quote }}}
{{- if and $token.existingSecret $token.previousKey }}
- {env: RSC_API_PREVIOUS_TOKEN_SECRET_FILE, path: previous-token-secret, secret: {{ $tokenSecret }}, key: {{ $token.previousKey | quote }}}
{{- else if and (not $token.existingSecret) (gt (int $token.generation) 1) }}
- {env: RSC_API_PREVIOUS_TOKEN_SECRET_FILE, path: previous-token-secret, secret: {{ $tokenSecret }}, key: previous-token-secret}
{{- end }}
{{- if $values.gateway.users.existingSecret }}
- {env: RSC_API_USERS_FILE, path: users.yaml, secret: {{ $values.gateway.users.existingSecret | quote }}, key: {{ $values.gateway.users.key | quote }}}
{{- else if $values.gateway.users.list }}
- {env: RSC_API_USERS_FILE, path: users.yaml, secret: {{ $full }}-users, key: users.yaml}
{{- else }}
- {env: "", path: admin-password, secret: {{ $full }}-gateway, key: admin-password}
{{- end }}
{{- end }}
{{- end -}}

{{/* Tells whether a user is made at the start, because nobody named one. */}}
{{- define "rsc.firstUser" -}}
{{- if not (or .Values.gateway.users.list .Values.gateway.users.existingSecret) -}}yes{{- end -}}
{{- end -}}

{{/* Tells whether the chart has a Secret of the gateway's. */}}
{{- define "rsc.generates" -}}
{{- if or (include "rsc.firstUser" .) (not .Values.gateway.token.existingSecret) -}}yes{{- end -}}
{{- end -}}

{{/*
What pods are to be replaced for when it changes: the secrets in the values. Generated ones are
not part of it: they are kept, and a new generation is. Passwords go through derivePassword,
which is scrypt: everybody who sees pods sees this, and shall not guess passwords by it.
*/}}
{{- define "rsc.secretsChecksum" -}}
{{- $values := .root.Values -}}
{{- $plain := list -}}
{{- $given := list -}}
{{- if ne .part "web" -}}
{{- $given = compact (list $values.redis.url $values.redis.auth.password $values.redis.auth.sentinelPassword) -}}
{{- end -}}
{{- with include "rsc.database" . -}}
{{- $postgres := get (index $values .) "postgres" -}}
{{- $given = concat $given (compact (list $postgres.url $postgres.password)) -}}
{{- end -}}
{{- if eq .part "gateway" -}}{{- $plain = append $values.gateway.users.list (int $values.gateway.token.generation) -}}{{- end -}}
{{- if $given -}}
{{- $plain = append $plain (derivePassword 1 "maximum" (toJson $given) .part (include "rsc.fullname" .root)) -}}
{{- end -}}
{{- toJson $plain | sha256sum -}}
{{- end -}}
