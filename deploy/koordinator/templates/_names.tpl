{{/* Labels of an object of component .component in context .root. */}}
{{- define "koordinator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{ include "koordinator.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: koordinator
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{/* Labels that select the pods of a component. */}}
{{- define "koordinator.selector" -}}
app.kubernetes.io/name: {{ .component }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{/* Full reference of image .image. */}}
{{- define "koordinator.image" -}}
{{- $images := .root.Values.images -}}
{{- with $images.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{ .image }}:{{ $images.tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* The URL of koord-scheduler's diagnostics port. */}}
{{- define "koordinator.schedulerEndpoint" -}}
https://{{ .Values.scheduler.service.externalName | default (printf "koord-scheduler.%s.svc" .Release.Namespace) }}:{{ .Values.scheduler.service.port }}
{{- end }}
