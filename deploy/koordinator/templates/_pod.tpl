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
{{- with .root.Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
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
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
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
