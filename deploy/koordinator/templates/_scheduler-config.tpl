{{/* The KubeSchedulerConfiguration that the values describe. */}}
{{- define "koordinator.schedulerConfiguration" -}}
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  resourceLock: leases
  resourceName: koord-scheduler
  resourceNamespace: {{ .Release.Namespace }}
clientConnection:
  qps: 200
  burst: 400
profiles:
  - schedulerName: {{ .Values.scheduler.config.schedulerName }}
    plugins:
      multiPoint:
        enabled:
          - name: LoadAwareScheduling
            weight: 1
    pluginConfig:
      - name: LoadAwareScheduling
        args:
          apiVersion: kubescheduler.config.k8s.io/v1
          kind: LoadAwareSchedulingArgs
          {{- toYaml .Values.scheduler.config.loadAware | nindent 10 }}
      # Batch pods request no cpu or memory, so they are spread by what they do request.
      - name: NodeResourcesFit
        args:
          apiVersion: kubescheduler.config.k8s.io/v1
          kind: NodeResourcesFitArgs
          scoringStrategy:
            type: LeastAllocated
            resources:
              {{- range list "cpu" "memory" "kubernetes.io/batch-cpu" "kubernetes.io/batch-memory" }}
              - name: {{ . }}
                weight: 1
              {{- end }}
{{- end }}

{{/* ConfigMap koord-scheduler-config as it will be, YAML with keys "data" and "annotations". */}}
{{- define "koordinator.schedulerConfigMap" -}}
{{- $desired := dict "koord-scheduler-config" (include "koordinator.schedulerConfiguration" .) -}}
{{- include "koordinator.keptEdits" (dict "name" "koord-scheduler-config" "namespace" .Release.Namespace "desired" $desired "overwrite" .Values.scheduler.config.overwrite) -}}
{{- end }}
