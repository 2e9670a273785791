{{- define "rsc.pod" -}}
{{- $chart := .root.Values -}}
{{- $values := index $chart .part -}}
{{- $secrets := include "rsc.secrets" . | fromYamlArray -}}
{{- $firstUser := and (eq .part "gateway") (include "rsc.firstUser" .root) -}}
serviceAccountName: {{ include "rsc.name" . }}
automountServiceAccountToken: false
# Kubernetes would make variables of the services' names that begin with RSC_.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ add $chart.preStopSeconds $values.shutdownSeconds 10 }}
{{- with $chart.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- include "rsc.spread" . }}
securityContext:
  runAsNonRoot: true
  {{- with int $chart.runAsUser }}
  runAsUser: {{ . }}
  runAsGroup: {{ . }}
  fsGroup: {{ . }}
  {{- end }}
  seccompProfile: {type: RuntimeDefault}
{{- if $firstUser }}
initContainers:
  # The gateway takes hashes only, and a chart cannot make one.
  - name: first-user
    image: {{ include "rsc.image" (dict "root" .root "binary" "first-user") }}
    imagePullPolicy: {{ $chart.image.pullPolicy }}
    args:
      - --username={{ $chart.gateway.users.firstUsername }}
      - --password-file=/etc/rsc/secrets/admin-password
      - --out=/run/rsc/users.yaml
    securityContext: {{- include "rsc.containerSecurity" . | nindent 6 }}
    resources:
      requests: {cpu: 50m, memory: 96Mi}
      limits: {memory: 192Mi}
    volumeMounts:
      - {name: secrets, mountPath: /etc/rsc/secrets, readOnly: true}
      - {name: users, mountPath: /run/rsc}
{{- end }}
containers:
  - name: {{ .part }}
    image: {{ include "rsc.image" (dict "root" .root "binary" (get (dict "gateway" "admin-gateway" "web" "console") .part | default .part)) }}
    imagePullPolicy: {{ $chart.image.pullPolicy }}
    args: [--config=/etc/rsc/config/rsc.yaml]
    ports:
      - {name: http, containerPort: {{ include "rsc.port" . }}, protocol: TCP}
      - {name: metrics, containerPort: {{ include "rsc.metricsPort" . }}, protocol: TCP}
    {{- include "rsc.environment" (dict "part" .part "secrets" $secrets "values" $values "firstUser" $firstUser) | nindent 4 }}
    startupProbe:
      httpGet: {path: /healthz, port: http}
      periodSeconds: 2
      timeoutSeconds: 2
      failureThreshold: 30
    livenessProbe:
      httpGet: {path: /healthz, port: http}
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 6
    # Redis and the store are asked for at most a second each.
    readinessProbe:
      httpGet: {path: /readyz, port: http}
      periodSeconds: 5
      timeoutSeconds: 4
      failureThreshold: 2
    {{- with $chart.preStopSeconds }}
    lifecycle:
      preStop:
        sleep: {seconds: {{ . }}}
    {{- end }}
    securityContext: {{- include "rsc.containerSecurity" . | nindent 6 }}
    resources: {{- toYaml $values.resources | nindent 6 }}
    volumeMounts:
      - {name: config, mountPath: /etc/rsc/config, readOnly: true}
      {{- if $secrets }}
      - {name: secrets, mountPath: /etc/rsc/secrets, readOnly: true}
      {{- end }}
      {{- if $firstUser }}
      - {name: users, mountPath: /run/rsc, readOnly: true}
      {{- end }}
      {{- range include "rsc.authorities" . | fromYamlArray }}
      - {name: {{ .name }}, mountPath: /etc/rsc/{{ .name }}, readOnly: true}
      {{- end }}
volumes:
  - name: config
    configMap:
      name: {{ include "rsc.fullname" .root }}-config
      items: [{key: rsc.yaml, path: rsc.yaml}]
  {{- with $secrets }}
  - name: secrets
    projected:
      # For the group of the processes, where the chart knows it.
      defaultMode: {{ ternary "0440" "0444" (gt (int $chart.runAsUser) 0) }}
      sources:
        {{- range . }}
        - secret:
            name: {{ .secret }}
            items: [{key: {{ .key | quote }}, path: {{ .path }}}]
        {{- end }}
  {{- end }}
  {{- if $firstUser }}
  - name: users
    emptyDir: {medium: Memory, sizeLimit: 1Mi}
  {{- end }}
  {{- range include "rsc.authorities" . | fromYamlArray }}
  - name: {{ .name }}
    {{- if .secret }}
    secret:
      secretName: {{ .secret }}
      items: [{key: {{ .key | quote }}, path: ca.crt}]
    {{- else }}
    configMap:
      name: {{ .configMap }}
      items: [{key: {{ .key | quote }}, path: ca.crt}]
    {{- end }}
  {{- end }}
{{- end -}}

{{- define "rsc.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: {drop: [ALL]}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "rsc.environment" -}}
{{- $entries := list -}}
{{- range .secrets -}}
{{- if .env -}}{{- $entries = append $entries (dict "name" .env "value" (printf "/etc/rsc/secrets/%s" .path)) -}}{{- end -}}
{{- end -}}
{{- with get .values "redis" -}}
{{- with .username -}}{{- $entries = append $entries (dict "name" "RSC_REDIS_USERNAME" "value" .) -}}{{- end -}}
{{- end -}}
{{- if .firstUser -}}{{- $entries = append $entries (dict "name" "RSC_API_USERS_FILE" "value" "/run/rsc/users.yaml") -}}{{- end -}}
{{- $entries = concat $entries .values.extraEnv -}}
{{- with $entries -}}
env: {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* The authorities' files that a part mounts, as a YAML list. */}}
{{- define "rsc.authorities" -}}
{{- $redis := .root.Values.redis.tls -}}
{{- if and (ne .part "web") $redis.enabled (or $redis.caSecret $redis.caConfigMap) }}
- {name: redis-ca, secret: {{ $redis.caSecret | quote }}, configMap: {{ $redis.caConfigMap | quote }}, key: {{ $redis.caKey | quote }}}
{{- end }}
{{- $section := include "rsc.database" . }}
{{- $postgres := ternary dict (get (get .root.Values ($section | default "store")) "postgres") (empty $section) }}
{{- if or (get $postgres "caSecret") (get $postgres "caConfigMap") }}
- {name: postgres-ca, secret: {{ $postgres.caSecret | quote }}, configMap: {{ $postgres.caConfigMap | quote }}, key: {{ $postgres.caKey | quote }}}
{{- end }}
{{- end -}}

{{/* Where the pods of a part are put: apart from one another. */}}
{{- define "rsc.spread" -}}
{{- $values := index .root.Values .part -}}
{{- if $values.zoneSpread }}
topologySpreadConstraints:
  - topologyKey: topology.kubernetes.io/zone
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels: {{- include "rsc.selector" . | nindent 8 }}
{{- end }}
{{- if eq $values.antiAffinity "soft" }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {{- include "rsc.selector" . | nindent 14 }}
{{- else if eq $values.antiAffinity "hard" }}
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        # Of one version only: a new pod may be beside the one that it replaces.
        matchLabelKeys: [pod-template-hash]
        labelSelector:
          matchLabels: {{- include "rsc.selector" . | nindent 12 }}
{{- end }}
{{- end -}}
