{{/* Bindings of a component's ServiceAccount to its ClusterRole and Role, and to the roles for delegated authentication. */}}
{{- define "koordinator.bindings" -}}
{{- $labels := include "koordinator.labels" . -}}
{{- $clusterRoles := concat (list .component "system:auth-delegator") (.clusterRoles | default list) -}}
{{- range $clusterRoles }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ if eq . $.component }}{{ . }}{{ else }}{{ $.component }}:{{ . }}{{ end }}
  labels:
    {{- $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ . }}
subjects:
  - kind: ServiceAccount
    name: {{ $.component }}
    namespace: {{ $.root.Release.Namespace }}
{{- end }}
{{- range list (dict "role" .component "namespace" .root.Release.Namespace) (dict "role" "extension-apiserver-authentication-reader" "namespace" "kube-system") }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ if eq .role $.component }}{{ .role }}{{ else }}{{ $.component }}:{{ .role }}{{ end }}
  namespace: {{ .namespace }}
  labels:
    {{- $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .role }}
subjects:
  - kind: ServiceAccount
    name: {{ $.component }}
    namespace: {{ $.root.Release.Namespace }}
{{- end }}
{{- end }}
