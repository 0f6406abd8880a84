package qos

import (
	"fmt"
	"strconv"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cfs"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// CPUNormalization gives services the part of a quota that does on this node's CPUs what the whole one does on those of the
// reference model.
type CPUNormalization struct{}

// Name implements Feature.
func (CPUNormalization) Name() string { return nodefeature.CPUNormalization.Name }

// DesiredValues implements Feature. On a node whose CPUs are worth no more than the reference it wants nothing. Batch and mid pods have
// the quotas of BatchResource, and pods with exclusive CPUs have none.
func (CPUNormalization) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	percent := in.normalization()
	if percent <= 100 {
		return nil
	}
	var values []executor.DesiredValue
	for _, pod := range in.Pods {
		class := extension.PodQoSClass(pod.Object)
		if !pod.Running() || class != extension.QoSLS && class != extension.QoSNone {
			continue
		}
		containers, limits := in.Containers.Of(pod, in.Now), limitsOf(pod.Object)
		var inOrder []int64
		for _, container := range containers {
			inOrder = append(inOrder, limits[container.Name])
		}
		podLimit := podrequest.LimitsOf(pod.Object).Plain.MilliCPU
		quotas := cfs.NormalizedGroup(podLimit, inOrder, percent)
		want := func(at string, limit, quota int64) {
			if quota > 0 {
				why := fmt.Sprintf("limited to %d milli-cores on CPUs worth %d%%", limit, percent)
				values = append(values, executor.DesiredValue{Setting: cgroup.CPUQuota, Cgroup: at, Value: strconv.FormatInt(quota, 10), Why: why})
			}
		}
		want(in.Layout.Pod(pod.Class(), pod.UID), podLimit, quotas.Pod)
		for i, container := range containers {
			want(container.Cgroup, inOrder[i], quotas.Containers[i])
		}
	}
	return values
}
