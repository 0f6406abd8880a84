{{/* What the names of all objects begin with: the name of the release, of which hadoop-yarn is a part. */}}
{{- define "hadoopYARN.name" -}}
{{- ternary .Release.Name (printf "%s-hadoop-yarn" .Release.Name) (contains "yarn" .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* Labels of an object of component .component in context .root. */}}
{{- define "hadoopYARN.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{ include "hadoopYARN.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: hadoop-yarn
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{/* Labels that select the pods of a component. koord-bridge finds NodeManagers by the component. */}}
{{- define "hadoopYARN.selector" -}}
app.kubernetes.io/name: hadoop-yarn
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* The name of the ResourceManager for those who call it. */}}
{{- define "hadoopYARN.resourceManager" -}}
{{ .Values.resourceManager.hostname | default (printf "%s-resource-manager.%s.svc" (include "hadoopYARN.name" .) .Release.Namespace) }}
{{- end }}

{{/* Parts of a pod that both components share. */}}
{{- define "hadoopYARN.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .root.Values.user | int }}
  runAsGroup: {{ .root.Values.group | int }}
  fsGroup: {{ .root.Values.group | int }}
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
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

{{/* The environment of both components. */}}
{{- define "hadoopYARN.environment" -}}
- {name: HADOOP_CONF_DIR, value: /etc/hadoop-yarn}
- {name: HADOOP_LOG_DIR, value: /tmp}
- {name: HADOOP_HEAPSIZE_MAX, value: {{ . | quote }}}
{{- end }}

{{/* Security context of every container. */}}
{{- define "hadoopYARN.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* A configuration file of Hadoop with properties .defaults, those of .given beside or instead of them. */}}
{{- define "hadoopYARN.site" -}}
{{- $all := merge (dict) .given .defaults -}}
<configuration>
{{- range $name := keys $all | sortAlpha }}
  <property><name>{{ $name | html }}</name><value>{{ get $all $name | toString | html }}</value></property>
{{- end }}
</configuration>
{{- end }}
