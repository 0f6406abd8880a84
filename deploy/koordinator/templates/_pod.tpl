{{/*
Parts of a pod that every component shares: it meets the restricted Pod Security Standard and spreads over hosts and zones.
*/}}
{{- define "koordinator.podCommon" -}}
serviceAccountName: {{ .component }}
priorityClassName: system-cluster-critical
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- include "koordinator.pullSecrets" .root }}
{{- if .values.hostNetwork }}
hostNetwork: true
dnsPolicy: ClusterFirstWithHostNet
{{- end }}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "koordinator.selector" $ | nindent 8 }}
  {{- end }}
{{- include "koordinator.placement" .values }}
{{- end }}

{{/* Secrets to pull the images with. */}}
{{- define "koordinator.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Nodes that the pods of a component may run on. */}}
{{- define "koordinator.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* How a Deployment's pods are replaced: on a node's network, the new one needs the ports of the old. */}}
{{- define "koordinator.strategy" -}}
{{- if .hostNetwork }}
strategy:
  rollingUpdate: {maxSurge: 0, maxUnavailable: 1}
{{- end }}
{{- end }}

{{/* The API server's address, for clients in pods, where it is not the one that kubelet tells them. */}}
{{- define "koordinator.apiServer" -}}
{{- with .Values.kubernetes.host }}
- {name: KUBERNETES_SERVICE_HOST, value: {{ . | quote }}}
- {name: KUBERNETES_SERVICE_PORT, value: {{ $.Values.kubernetes.port | quote }}}
{{- end }}
{{- end }}

{{/* The same as a container's whole environment. */}}
{{- define "koordinator.environment" -}}
{{- with include "koordinator.apiServer" . }}
env:
  {{- . | trim | nindent 2 }}
{{- end }}
{{- end }}

{{/* Where a probe asks: kubelet does not know of addresses that a component chose. */}}
{{- define "koordinator.probeHost" -}}
{{- with .bindAddress }}, host: {{ . | quote }}{{ end }}
{{- end }}

{{/* Security context of every container. */}}
{{- define "koordinator.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Service of a component: selects its pods, or points at a host name when they run outside the cluster. */}}
{{- define "koordinator.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "koordinator.labels" . | nindent 4 }}
spec:
  {{- if .values.service.externalName }}
  type: ExternalName
  externalName: {{ .values.service.externalName }}
  {{- else }}
  type: ClusterIP
  {{- if .headless }}
  clusterIP: None
  {{- end }}
  selector:
    {{- include "koordinator.selector" . | nindent 4 }}
  {{- end }}
  ports:
    - name: https
      port: {{ .values.service.port }}
      protocol: TCP
      {{- if not .values.service.externalName }}
      targetPort: {{ .targetPort }}
      {{- end }}
    {{- range .morePorts }}
    - name: {{ .name }}
      port: {{ .port }}
      protocol: TCP
      {{- if not $.values.service.externalName }}
      targetPort: {{ .name }}
      {{- end }}
    {{- end }}
{{- end }}
