package qos

import (
	"fmt"
	"strconv"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/batchcgroup"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// BatchResource gives batch and mid pods the shares and limits of their resources, which kubelet does not know.
type BatchResource struct{}

// Name implements Feature.
func (BatchResource) Name() string { return nodefeature.BatchResource.Name }

// DesiredValues implements Feature.
func (BatchResource) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	var values []executor.DesiredValue
	suppressed := quotaBySuppression(in.SLO.ResourceUsedThresholdWithBE)
	for _, pod := range in.Pods {
		input, applies := batchcgroup.FromPod(pod.Object)
		if !applies || !pod.Running() {
			continue
		}
		input.NormalizationPercent, input.QuotaBySuppression = in.normalization(), suppressed
		bounds := batchcgroup.BoundsOf(input)
		values = append(values, boundWishes(in.Layout.Pod(pod.Class(), pod.UID), bounds.Pod)...)
		for _, container := range in.Containers.Of(pod, in.Now) {
			for i := range bounds.Containers {
				if bounds.Containers[i].Name == container.Name {
					values = append(values, boundWishes(container.Cgroup, bounds.Containers[i].Bounds)...)
				}
			}
		}
	}
	return values
}

// quotaBySuppression is true while one quota holds all best-effort pods.
func quotaBySuppression(strategy *slov1alpha1.ResourceThresholdStrategy) bool {
	return strategy != nil && strategy.Enable != nil && *strategy.Enable && strategy.CPUSuppressPolicy == slov1alpha1.CPUCfsQuotaPolicy
}

func boundWishes(at string, bounds batchcgroup.Bounds) []executor.DesiredValue {
	why := fmt.Sprintf("requests %d milli-cores, limited to %d and %d bytes", bounds.Operands.RequestMilli, bounds.Operands.LimitMilli, bounds.Operands.LimitMemory)
	return []executor.DesiredValue{
		{Setting: cgroup.CPUShares, Cgroup: at, Value: strconv.FormatInt(bounds.Shares, 10), Why: why},
		{Setting: cgroup.CPUQuota, Cgroup: at, Value: strconv.FormatInt(bounds.Quota, 10), Why: why},
		{Setting: cgroup.MemoryLimit, Cgroup: at, Value: strconv.FormatInt(bounds.Memory, 10), Why: why},
	}
}
