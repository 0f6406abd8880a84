{{/* A rule of a NetworkPolicy: who reaches some ports; without peers everybody does. */}}
{{- define "koordinator.ingress" }}
    - ports:
        {{- range .ports }}
        - {port: {{ . }}, protocol: TCP}
        {{- end }}
      {{- with .from }}
      from:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
