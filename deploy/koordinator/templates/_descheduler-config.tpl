{{/* Namespaces of which no pod is evicted: those of Kubernetes and of this release, and those of the values. */}}
{{- define "koordinator.deschedulerExcluded" -}}
{{- concat (list "kube-system" .Release.Namespace) .Values.descheduler.config.excludedNamespaces | uniq | toYaml -}}
{{- end }}

{{/* The DeschedulerConfiguration that the values describe. */}}
{{- define "koordinator.deschedulerConfiguration" -}}
{{- $config := .Values.descheduler.config -}}
{{- if and (eq (get $config.migrationController "evictionPolicy") "Delete") (not .Values.descheduler.deletePods) -}}
{{- fail "descheduler.config.migrationController.evictionPolicy Delete requires descheduler.deletePods: true" -}}
{{- end -}}
apiVersion: descheduler/v1alpha2
kind: DeschedulerConfiguration
leaderElection:
  leaderElect: true
  resourceLock: leases
  resourceName: koord-descheduler
  resourceNamespace: {{ .Release.Namespace }}
clientConnection:
  qps: 50
  burst: 100
enableProfiling: false
deschedulingInterval: {{ $config.deschedulingInterval }}
dryRun: {{ $config.dryRun }}
{{- range $name := list "maxNoOfPodsToEvictPerNode" "maxNoOfPodsToEvictPerNamespace" "maxNoOfPodsToEvictTotal" }}
{{- with get $config $name }}
{{ $name }}: {{ . }}
{{- end }}
{{- end }}
profiles:
  - name: koord-descheduler
    plugins:
      deschedule:
        disabled:
          - name: "*"
      balance:
        enabled:
          - name: {{ ternary "LoadAwareRebalancing" "LowNodeLoad" (eq $config.mode "planner") }}
      # Evictions become PodMigrationJobs.
      evict:
        disabled:
          - name: "*"
        enabled:
          - name: MigrationController
      filter:
        disabled:
          - name: "*"
        enabled:
          - name: MigrationController
    pluginConfig:
      - name: MigrationController
        args:
          apiVersion: descheduler/v1alpha2
          kind: MigrationControllerArgs
          {{- toYaml $config.migrationController | nindent 10 }}
          namespaces:
            exclude:
              {{- include "koordinator.deschedulerExcluded" . | nindent 14 }}
      {{- if eq $config.mode "planner" }}
      - name: LoadAwareRebalancing
        args:
          apiVersion: descheduler/v1alpha2
          kind: LoadAwareRebalancingArgs
          {{- toYaml $config.loadAwareRebalancing | nindent 10 }}
      {{- else }}
      - name: LowNodeLoad
        args:
          apiVersion: descheduler/v1alpha2
          kind: LowNodeLoadArgs
          {{- toYaml $config.lowNodeLoad | nindent 10 }}
          evictableNamespaces:
            exclude:
              {{- include "koordinator.deschedulerExcluded" . | nindent 14 }}
      {{- end }}
{{- end }}

{{/* ConfigMap koord-descheduler-config as it will be, YAML with keys "data" and "annotations". */}}
{{- define "koordinator.deschedulerConfigMap" -}}
{{- $desired := dict "koord-descheduler-config" (include "koordinator.deschedulerConfiguration" .) -}}
{{- include "koordinator.keptEdits" (dict "name" "koord-descheduler-config" "namespace" .Release.Namespace "desired" $desired "overwrite" .Values.descheduler.config.overwrite) -}}
{{- end }}
