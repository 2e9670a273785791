{{/*
The objects of one part. All parts are alike: what differs is their secrets, and the gateway's
first user.
*/}}
{{- define "rsc.part" -}}
{{- $values := index .root.Values .part -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "rsc.name" . }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "rsc.partLabels" . | nindent 4 }}
  {{- with $values.serviceAccountAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "rsc.name" . }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "rsc.partLabels" . | nindent 4 }}
  {{- with $values.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ $values.service.type }}
  selector: {{- include "rsc.selector" . | nindent 4 }}
  ports:
    - {name: http, port: {{ include "rsc.port" . }}, targetPort: http, protocol: TCP, appProtocol: http}
---
{{- if $values.pdb.enabled }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "rsc.name" . }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "rsc.partLabels" . | nindent 4 }}
spec:
  maxUnavailable: {{ $values.pdb.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "rsc.selector" . | nindent 6 }}
---
{{- end }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "rsc.name" . }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "rsc.partLabels" . | nindent 4 }}
spec:
  replicas: {{ $values.replicas }}
  revisionHistoryLimit: 3
  minReadySeconds: 5
  # A new pod is ready before an old one ends: members and producers never wait for one.
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: 0, maxSurge: 1}
  selector:
    matchLabels: {{- include "rsc.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "rsc.podLabels" . | nindent 8 }}
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        checksum/config: {{ include "rsc.config" .root | sha256sum }}
        checksum/secrets: {{ include "rsc.secretsChecksum" . }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec: {{- include "rsc.pod" . | nindent 6 }}
{{- end -}}
