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
      # Keeps the pods of a gang together; sorts other pods by priority and age.
      queueSort:
        enabled:
          - name: Coscheduling
        disabled:
          - name: "*"
      # Writes the allocations of plugins with the binding; pods without allocations are left to DefaultBinder.
      bind:
        enabled:
          - name: Reservation
          - name: DefaultPreBind
      # Before DefaultPreemption, which does not support reservations and quotas.
      postFilter:
        enabled:
          - name: Reservation
          - name: Coscheduling
          - name: ElasticQuota
      # In addition to the plugins that are enabled by default.
      multiPoint:
        enabled:
          - name: LoadAwareScheduling
          - name: NodeNUMAResource
          - name: DeviceShare
          - name: Coscheduling
          - name: ElasticQuota
          - name: UsageClass
          # Reserved resources are preferred over free resources.
          - name: Reservation
            weight: 5000
          - name: NodeResourcesFitPlus
          - name: ScarceResourceAvoidance
          # A node preferred by a hint outweighs all other scores.
          - name: SchedulingHint
            weight: 1000
          - name: DefaultPreBind
    pluginConfig:
      - name: LoadAwareScheduling
        args:
          apiVersion: kubescheduler.config.k8s.io/v1
          kind: LoadAwareSchedulingArgs
          {{- toYaml .Values.scheduler.config.loadAware | nindent 10 }}
      # Batch pods do not request cpu or memory, so they are spread by batch resources.
      - name: NodeResourcesFit
        args:
          apiVersion: kubescheduler.config.k8s.io/v1
          kind: NodeResourcesFitArgs
          scoringStrategy:
            type: LeastAllocated
            resources:
              - name: cpu
                weight: 1
              - name: memory
                weight: 1
              - name: kubernetes.io/batch-cpu
                weight: 1
              - name: kubernetes.io/batch-memory
                weight: 1
      # Accelerators are bin-packed, so that whole nodes stay free.
      - name: NodeResourcesFitPlus
        args:
          apiVersion: kubescheduler.config.k8s.io/v1
          kind: NodeResourcesFitPlusArgs
          resources:
            nvidia.com/gpu:
              type: MostAllocated
              weight: 1
            koordinator.sh/gpu-memory-ratio:
              type: MostAllocated
              weight: 1
      # Pods that do not request accelerators avoid nodes that have them.
      - name: ScarceResourceAvoidance
        args:
          apiVersion: kubescheduler.config.k8s.io/v1
          kind: ScarceResourceAvoidanceArgs
          resources:
            - nvidia.com/gpu
            - koordinator.sh/gpu-core
            - koordinator.sh/gpu-memory-ratio
{{- end }}

{{/* ConfigMap koord-scheduler-config as it will be, YAML with keys "data" and "annotations". */}}
{{- define "koordinator.schedulerConfigMap" -}}
{{- $desired := dict "koord-scheduler-config" (include "koordinator.schedulerConfiguration" .) -}}
{{- include "koordinator.keptEdits" (dict "name" "koord-scheduler-config" "namespace" .Release.Namespace "desired" $desired "overwrite" .Values.scheduler.config.overwrite) -}}
{{- end }}
