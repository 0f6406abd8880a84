{{/* An ingress rule of a NetworkPolicy: the peers that may connect to the ports; without peers, all. */}}
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
