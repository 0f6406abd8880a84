package fleet

import (
	"hash/fnv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host/simulated"
	"koordinator.sh/koord/agent/report"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/enforcement"
)

const (
	// absurdFactor is how many times its capacity a node of FaultAbsurd reports.
	absurdFactor = 20
	// futureBy is how far ahead the reports of a node of FaultFuture are.
	futureBy = time.Hour
)

// status is what the node has to report now; nil when there is nothing to report to any more.
func (a *agent) status(now time.Time) *slov1alpha1.NodeMetricStatus {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.metric == nil || a.host == nil || a.silent() {
		return nil
	}
	at := a.lastSample()
	estimate := a.estimate(at)
	in := report.Input{UpdateTime: now, At: at, Metrics: a.metrics, Prediction: &estimate, Pods: make([]report.Pod, len(a.running))}
	for i, pod := range a.running {
		in.Pods[i] = report.Pod{UID: pod.UID, Namespace: pod.Namespace, Name: pod.Name, Band: pod.sim.Band, QoS: pod.qos}
	}
	status := report.Status(in)
	if a.node.sim.Frozen {
		backdate(status, -a.node.sim.FrozenAge)
	}
	status.Conditions = []metav1.Condition{a.enforcingCondition()}
	a.distort(status)
	return status
}

// enforcingCondition is the condition that reports whether the simulated agent enforces. The lock is held.
func (a *agent) enforcingCondition() metav1.Condition {
	facts := enforcement.Facts{}
	if a.node.sim.Fault == simulated.FaultUnenforced {
		facts.OriginalsUnread = "read what was there before the agent: the state directory of the simulated node is damaged"
	}
	condition := enforcement.Decide(facts).Condition()
	condition.LastTransitionTime = metav1.NewTime(a.turned)
	return condition
}

// setReported records that a report was accepted.
func (a *agent) setReported(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reported = at
}

// reportAge is how long ago the node last reported; expected is false for a node that has nothing to report to, or is
// frozen and silent on purpose.
func (a *agent) reportAge(now time.Time) (age time.Duration, expected bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return now.Sub(a.reported), a.metric != nil && !a.node.sim.Frozen
}

// silent reports whether the node was frozen after a report, which then stays the last one.
func (a *agent) silent() bool {
	node := a.node.sim
	return node.Frozen && (node.FrozenAge == 0 || (node.StaleOnly && a.metric.reported))
}

// distort makes a report wrong in the way the node asks for.
func (a *agent) distort(status *slov1alpha1.NodeMetricStatus) {
	if status.NodeMetric == nil {
		return
	}
	usage := status.NodeMetric.NodeUsage.ResourceList
	switch a.node.sim.Fault {
	case simulated.FaultNegative:
		usage[corev1.ResourceCPU] = *resource.NewMilliQuantity(-1000, resource.DecimalSI)
	case simulated.FaultAbsurd:
		usage[corev1.ResourceCPU] = *resource.NewMilliQuantity(a.node.sim.Capacity.MilliCPU*absurdFactor, resource.DecimalSI)
	case simulated.FaultFuture:
		backdate(status, futureBy)
	}
}

func backdate(status *slov1alpha1.NodeMetricStatus, by time.Duration) {
	moved := metav1.NewTime(status.UpdateTime.Add(by))
	status.UpdateTime = &moved
}

func hashOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}
