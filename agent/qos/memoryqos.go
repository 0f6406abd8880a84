package qos

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/nodeqos/memoryqos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// MemoryQoS protects the memory of services, and reclaims that of others first.
type MemoryQoS struct {
	// Reclaim stands in for watermarks that the kernel does not have; nil leaves them out.
	Reclaim *Reclaimer
}

// Name implements Feature.
func (MemoryQoS) Name() string { return nodefeature.CgroupReconcile.Name }

// Run works for the feature until the context ends.
func (m MemoryQoS) Run(ctx context.Context, clock clock.PassiveClock) {
	if m.Reclaim != nil {
		m.Reclaim.Run(ctx, clock)
	}
}

// DesiredValues implements Feature. What the kernel does not have is not wanted.
func (m MemoryQoS) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	input := memoryqos.Input{Strategy: in.SLO.ResourceQOSStrategy}
	if in.Node != nil {
		input.Allocatable = capacity.Of(in.Node).Raw.Memory
	}
	pods := map[string]*state.Pod{}
	for _, pod := range in.Pods {
		if pod.Running() {
			input.Pods = append(input.Pods, memoryqos.PodOf(pod.Object))
			pods[string(pod.Object.UID)] = pod
		}
	}
	plan := memoryqos.PlanOf(input, nil)
	var values []executor.DesiredValue
	for _, group := range plan.Groups {
		values = append(values, in.memory(in.Layout.QoS(group.Group), group.Values, "the pods in it")...)
	}
	for i := range plan.Pods {
		values = append(values, in.memoryOfPod(pods[plan.Pods[i].UID], &plan.Pods[i])...)
	}
	if m.Reclaim != nil && !in.supports(cgroup.WmarkRatio) && in.supports(cgroup.MemoryReclaim) {
		m.Reclaim.submit(reclaimRound{tree: in.Tree, layout: in.Layout, audit: in.Audit, groups: in.watermarks(plan, pods)})
	}
	return values
}

// watermarks are the groups that have one, containers before their pod.
func (s *NodeSnapshot) watermarks(plan memoryqos.Plan, pods map[string]*state.Pod) []reclaimGroup {
	var groups []reclaimGroup
	add := func(at string, values memoryqos.Values) {
		if values.WmarkRatio != nil && *values.WmarkRatio > 0 {
			group := reclaimGroup{cgroup: at, ratio: *values.WmarkRatio}
			if values.WmarkScaleFactor != nil {
				group.scale = *values.WmarkScaleFactor
			}
			groups = append(groups, group)
		}
	}
	for i := range plan.Pods {
		values, pod := &plan.Pods[i], pods[plan.Pods[i].UID]
		for _, container := range s.Containers.Of(pod, s.Now) {
			for j := range values.Containers {
				if values.Containers[j].Name == container.Name {
					add(container.Cgroup, values.Containers[j].Values)
				}
			}
		}
		add(s.Layout.Pod(pod.Class(), pod.UID), values.Values)
	}
	return groups
}

func (s *NodeSnapshot) memoryOfPod(pod *state.Pod, values *memoryqos.PodValues) []executor.DesiredValue {
	why := "by " + string(values.Source)
	desired := s.memory(s.Layout.Pod(pod.Class(), pod.UID), values.Values, why)
	for _, container := range s.Containers.Of(pod, s.Now) {
		for i := range values.Containers {
			if values.Containers[i].Name == container.Name {
				desired = append(desired, s.memory(container.Cgroup, values.Containers[i].Values, why)...)
			}
		}
	}
	return desired
}

// memory are the desired values of one cgroup.
func (s *NodeSnapshot) memory(at string, values memoryqos.Values, why string) []executor.DesiredValue {
	var desired []executor.DesiredValue
	for _, value := range []struct {
		setting cgroup.Setting
		value   *int64
	}{
		{cgroup.MemoryMin, values.Min}, {cgroup.MemoryLow, values.Low}, {cgroup.MemoryHigh, values.High}, {cgroup.WmarkRatio, values.WmarkRatio},
		{cgroup.WmarkScale, values.WmarkScaleFactor}, {cgroup.WmarkMinAdj, values.WmarkMinAdj}, {cgroup.PriorityOOM, values.UsePriorityOOM},
		{cgroup.OOMPriority, values.Priority}, {cgroup.OOMGroup, values.OOMGroup}, {cgroup.PageCacheLimit, values.PageCacheLimit},
		{cgroup.PageCacheSync, values.PageCacheReclaimSync}, {cgroup.PageCacheEnable, values.PageCacheEnable},
	} {
		if value.value != nil && s.supports(value.setting) {
			desired = append(desired, executor.DesiredValue{Setting: value.setting, Cgroup: at, Value: strconv.FormatInt(*value.value, 10), Why: why})
		}
	}
	return desired
}

// supports reports whether the kernel has a setting, by the cgroup of best-effort pods.
func (s *NodeSnapshot) supports(setting cgroup.Setting) bool {
	return s.Layout.Supports(s.Tree, setting, s.Layout.QoS(corev1.PodQOSBestEffort))
}
