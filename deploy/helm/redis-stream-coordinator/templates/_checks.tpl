{{/*
What a schema cannot say well, or not without repeating a secret. Every refusal names the keys
and says what to do.
*/}}
{{- define "rsc.checks" -}}
{{- $values := .Values -}}
{{- $redis := $values.redis -}}
{{- $places := list -}}
{{- range $key := list "url" "existingSecret" "host" "addresses" -}}
{{- if get $redis $key -}}{{- $places = append $places (printf "redis.%s" $key) -}}{{- end -}}
{{- end -}}
{{- if not $places -}}
{{- fail "nothing says where Redis is: set redis.host, or one of redis.url, redis.existingSecret and redis.addresses" -}}
{{- else if gt (len $places) 1 -}}
{{- fail (printf "%s are set together: use one" (join " and " $places)) -}}
{{- end -}}
{{- if and $redis.url (not (regexMatch "^rediss?(\\+cluster|\\+sentinel)?://" $redis.url)) -}}
{{- fail "redis.url must begin with redis://, rediss://, redis+cluster:// or redis+sentinel://" -}}
{{- end -}}
{{- if and (or $redis.url $redis.existingSecret) (or $redis.cluster $redis.masterName $redis.database) -}}
{{- fail (printf "%s says all of the place: leave redis.cluster, redis.masterName and redis.database alone" (first $places)) -}}
{{- end -}}
{{- if and $redis.cluster $redis.masterName -}}
{{- fail "redis.cluster and redis.masterName are set together: a Redis Cluster has no sentinels" -}}
{{- end -}}
{{- if and $redis.cluster $redis.database -}}
{{- fail "redis.database is set and redis.cluster too: a Redis Cluster has database 0 only" -}}
{{- end -}}
{{- if and $redis.addresses (not (or $redis.cluster $redis.masterName)) -}}
{{- fail "redis.addresses needs redis.cluster, or redis.masterName for sentinels; for one server set redis.host" -}}
{{- end -}}
{{- if and $redis.auth.password $redis.auth.existingSecret -}}
{{- fail "redis.auth.password and redis.auth.existingSecret are set together: use one" -}}
{{- end -}}
{{- if and $redis.auth.sentinelPassword $redis.auth.existingSecret -}}
{{- fail "redis.auth.sentinelPassword and redis.auth.existingSecret are set together: name its key with redis.auth.sentinelPasswordKey" -}}
{{- end -}}
{{- include "rsc.checks.authorities" (dict "key" "redis.tls" "in" $redis.tls) -}}
{{- if and (not $redis.tls.enabled) (or $redis.tls.caSecret $redis.tls.caConfigMap) -}}
{{- fail "redis.tls.caSecret or redis.tls.caConfigMap is set without redis.tls.enabled" -}}
{{- end -}}
{{- $store := include "rsc.database" (dict "root" . "part" "coordinator") -}}
{{- include "rsc.checks.postgres" (dict "section" "store" "uses" "store.type" "on" $store "postgres" $values.store.postgres) -}}
{{- $audit := include "rsc.database" (dict "root" . "part" "gateway") -}}
{{- include "rsc.checks.postgres" (dict "section" "audit" "uses" "settings.audit.sink" "on" $audit "postgres" $values.audit.postgres) -}}
{{- include "rsc.checks.gateway" . -}}
{{- end -}}

{{- define "rsc.checks.authorities" -}}
{{- if and .in.caSecret .in.caConfigMap -}}
{{- fail (printf "%s.caSecret and %s.caConfigMap are set together: use one" .key .key) -}}
{{- end -}}
{{- end -}}

{{/* section has the values, uses is the setting that makes use of them, on tells whether it does. */}}
{{- define "rsc.checks.postgres" -}}
{{- $postgres := .postgres -}}
{{- $key := printf "%s.postgres" .section -}}
{{- if .on -}}
{{- if not (or $postgres.url $postgres.existingSecret $postgres.host) -}}
{{- fail (printf "%s is postgres and nothing says where it is: set %s.host, or one of %s.url and %s.existingSecret" .uses $key $key $key) -}}
{{- end -}}
{{- if and $postgres.url (not (regexMatch "^postgres(ql)?://" $postgres.url)) -}}
{{- fail (printf "%s.url must begin with postgres://" $key) -}}
{{- end -}}
{{- if and $postgres.url (or $postgres.host $postgres.existingSecret) -}}
{{- fail (printf "%s.url is set together with %s.host or %s.existingSecret: use one" $key $key $key) -}}
{{- end -}}
{{- if and $postgres.password $postgres.existingSecret -}}
{{- fail (printf "%s.password and %s.existingSecret are set together: use one" $key $key) -}}
{{- end -}}
{{- if and (or $postgres.caSecret $postgres.caConfigMap) $postgres.host (has $postgres.tlsMode (list "disable" "prefer")) -}}
{{- fail (printf "%s.tlsMode is %s, with which %s.caSecret and %s.caConfigMap verify nothing: use verify-full" $key $postgres.tlsMode $key $key) -}}
{{- end -}}
{{- include "rsc.checks.authorities" (dict "key" $key "in" $postgres) -}}
{{- else if or $postgres.url $postgres.existingSecret $postgres.host -}}
{{- fail (printf "%s says where PostgreSQL is, and nothing is kept there: set %s to postgres" $key .uses) -}}
{{- end -}}
{{- end -}}

{{- define "rsc.checks.gateway" -}}
{{- $gateway := .Values.gateway -}}
{{- if and $gateway.users.list $gateway.users.existingSecret -}}
{{- fail "gateway.users.list and gateway.users.existingSecret are set together: use one" -}}
{{- end -}}
{{- range $i, $user := $gateway.users.list -}}
{{- if not (hasPrefix "$argon2id$" (get $user "password-hash")) -}}
{{- fail (printf "gateway.users.list[%d].password-hash is no argon2id hash: make one with rscctl hash-password" $i) -}}
{{- end -}}
{{- end -}}
{{- if and $gateway.token.previousKey (not $gateway.token.existingSecret) -}}
{{- fail "gateway.token.previousKey is a key of gateway.token.existingSecret, which is not set: raise gateway.token.generation for a new secret" -}}
{{- end -}}
{{- if and $gateway.token.existingSecret (gt (int $gateway.token.generation) 1) -}}
{{- fail "gateway.token.generation is for the generated secret: change that of gateway.token.existingSecret, and name the old one with gateway.token.previousKey" -}}
{{- end -}}
{{- if and (gt (int $gateway.replicas) 1) (eq (dig "api" "rate-limit" "store" "local" .Values.settings) "local") -}}
{{- fail "settings.api.rate-limit.store is local and gateway.replicas above 1: a logout would hold for one gateway only, set it to redis" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.enabled is set without ingress.host" -}}
{{- end -}}
{{- end -}}
