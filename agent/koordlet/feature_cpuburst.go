package koordlet

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/burst"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// cpuBurstFeature lets containers of services exceed their limits for a while.
func cpuBurstFeature() FeatureSpec {
	containers := []string{"node", "pod_namespace", "pod_name", "container_name"}
	return FeatureSpec{
		Spec:   nodefeature.CPUBurst,
		Kernel: []cgroup.Setting{cgroup.CPUBurst, cgroup.CPUQuota},
		Values: func(*featureBuild) qos.Feature { return qos.NewCPUBurst() },
		Result: func(made qos.Feature) any { return made.(*qos.CPUBurst).Decided() },
		Status: func(e *explainer, _ bool) diagnostics.FeatureStatus { return e.burstStatus() },
		Metrics: []diagnostics.Metric{
			{Name: "container_scaled_cfs_burst_us", Help: "CPU time that a container may save and use at once, in microseconds.", Labels: containers},
			{Name: "container_scaled_cfs_quota_us", Help: "CPU quota of a container that may burst, in microseconds per 100 ms.", Labels: containers},
		},
		Collect: (*explainer).collectBursts,
	}
}

// decidedBursts is what was decided of the pods that may burst; it must not be changed.
func (e *explainer) decidedBursts() map[types.UID]burst.PodResult {
	return resultOf[map[types.UID]burst.PodResult](&e.enforcement.results, nodefeature.CPUBurst)
}

func (e *explainer) burstStatus() diagnostics.FeatureStatus {
	bursts := e.decidedBursts()
	if len(bursts) == 0 {
		return diagnostics.FeatureStatus{}
	}
	above := 0
	for _, pod := range bursts {
		for i := range pod.Containers {
			if c := &pod.Containers[i]; c.Base > 0 && c.Quota > c.Base {
				above++
			}
		}
	}
	return diagnostics.FeatureStatus{State: fmt.Sprintf("%d pods may burst; %d containers have a quota above their limit", len(bursts), above)}
}

// collectBursts emits what containers may use beyond their limits; a quota of -1 is no limit.
func (e *explainer) collectBursts(emit diagnostics.Emit) {
	bursts := e.decidedBursts()
	for _, pod := range e.cluster.Pods() {
		for _, c := range bursts[pod.UID].Containers {
			emit("container_scaled_cfs_burst_us", float64(c.BurstMicros), pod.Object.Namespace, pod.Object.Name, c.Name)
			emit("container_scaled_cfs_quota_us", float64(c.Quota), pod.Object.Namespace, pod.Object.Name, c.Name)
		}
	}
}
