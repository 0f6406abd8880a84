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

{{/* imagePullSecrets. */}}
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

{{/* The update strategy of a Deployment: on the host network, a new pod needs the ports of the old one. */}}
{{- define "koordinator.strategy" -}}
{{- if .hostNetwork }}
strategy:
  rollingUpdate: {maxSurge: 0, maxUnavailable: 1}
{{- end }}
{{- end }}

{{/* The address of the API server for clients in pods, if it is not the in-cluster Service. */}}
{{- define "koordinator.apiServer" -}}
{{- with .Values.kubernetes.host }}
- {name: KUBERNETES_SERVICE_HOST, value: {{ . | quote }}}
- {name: KUBERNETES_SERVICE_PORT, value: {{ $.Values.kubernetes.port | quote }}}
{{- end }}
{{- end }}

{{/*
What the Go runtime may keep: nine tenths of the memory limit of a container with these resources, for a tenth is what else the kernel
counts. Nothing without a limit, or with one in a notation that is not known here.
*/}}
{{- define "koordinator.memoryLimit" -}}
{{- $limit := "" -}}
{{- with . -}}{{- with .limits -}}{{- with .memory -}}
{{- $limit = ternary (printf "%.0f" .) (toString .) (kindIs "float64" .) -}}
{{- end -}}{{- end -}}{{- end -}}
{{- $number := regexFind "^[0-9]+([.][0-9]+)?" $limit -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $unit := trimPrefix $number $limit -}}
{{- if and $number (hasKey $units $unit) }}
- {name: GOMEMLIMIT, value: {{ mulf $number (get $units $unit) 0.9 | int64 | quote }}}
{{- end }}
{{- end }}

{{/* The environment of a container: GOMEMLIMIT and the address of the API server. */}}
{{- define "koordinator.environment" -}}
{{- with printf "%s\n%s" (include "koordinator.memoryLimit" .values.resources | trim) (include "koordinator.apiServer" .root | trim) | trim }}
env:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The host of a probe, if the component does not listen on all addresses. */}}
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
