{{/* A container of the koordlet pod that copies two files of the kubelet directory; only this container mounts it. */}}
{{- define "koordinator.kubeletFiles" -}}
{{- $koordlet := .root.Values.koordlet -}}
- name: {{ .name }}
  image: {{ include "koordinator.image" (dict "root" .root "image" (ternary $koordlet.nvidia.image $koordlet.image $koordlet.nvidia.enabled)) }}
  imagePullPolicy: {{ .root.Values.images.pullPolicy }}
  args: [copy-kubelet-files, --from=/kubelet, --to=/copies, --every={{ .every }}]
  resources:
    requests: {cpu: 1m, memory: 16Mi}
    limits: {memory: 64Mi}
  securityContext:
    runAsUser: 0
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities:
      drop: [ALL]
  volumeMounts:
    - {name: kubelet, mountPath: /kubelet, readOnly: true}
    - {name: kubelet-files, mountPath: /copies}
{{- end }}
