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
      # Members of a gang come one after the other; other pods by priority and age.
      queueSort:
        enabled:
          - name: Coscheduling
        disabled:
          - name: "*"
      # Writes what plugins decided together with the binding; pods without such decisions go on to DefaultBinder.
      bind:
        enabled:
          - name: Reservation
          - name: DefaultPreBind
      # Before the preemption of Kubernetes, which knows of no reservations and quotas.
      postFilter:
        enabled:
          - name: Reservation
          - name: Coscheduling
          - name: ElasticQuota
      # On top of all plugins that are enabled by default.
      multiPoint:
        enabled:
          - name: LoadAwareScheduling
          - name: NodeNUMAResource
          - name: DeviceShare
          - name: Coscheduling
          - name: ElasticQuota
          - name: UsageClass
          # Room that is reserved for a pod wins over free room.
          - name: Reservation
            weight: 5000
          - name: NodeResourcesFitPlus
          - name: ScarceResourceAvoidance
          # A node that a hint prefers wins over any other score.
          - name: SchedulingHint
            weight: 1000
          - name: DefaultPreBind
    pluginConfig:
      - name: LoadAwareScheduling
        args:
          apiVersion: kubescheduler.config.k8s.io/v1
          kind: LoadAwareSchedulingArgs
          {{- toYaml .Values.scheduler.config.loadAware | nindent 10 }}
      # Batch pods request no cpu or memory, so they are spread by the resources that they do request.
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
      # Accelerators are packed, so that whole nodes of them stay free.
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
      # Pods without use for accelerators stay off the nodes that have them.
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
