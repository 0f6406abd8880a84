package coresched

import (
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// expellerSuffix marks the names of groups that push idle pods off their cores.
const expellerSuffix = "-expeller"

// Pod is what the group of a pod depends on.
type Pod struct {
	UID string
	// QoS is the pod's class, or the one that corresponds to its class in Kubernetes.
	QoS extension.QoSClass
	// GroupID and Policy are the pod's labels.
	GroupID string
	Policy  extension.CoreSchedPolicy
}

// Group is the pods that one pod may share a core with.
type Group struct {
	// Cookie is true when the pod carries one at all; without one it shares cores with all others that carry none.
	Cookie bool `json:"cookie"`
	// ID names the group: pods with the same one carry the same cookie.
	ID string `json:"id,omitempty"`
	// Idle is true for a pod that runs only when nothing else does: cpu.idle.
	Idle   bool   `json:"idle,omitempty"`
	Reason string `json:"reason"`
}

// GroupOf decides the group of a pod. Pods of one group that differ in whether they expel others are in two groups, because
// the cookie decides what is expelled.
func GroupOf(strategy *slov1alpha1.ResourceQOSStrategy, pod Pod) Group {
	if pod.QoS == extension.QoSSystem {
		return Group{Reason: "SYSTEM pods share cores with all pods"}
	}
	if strategy == nil || strategy.Policies == nil || strategy.Policies.CPUPolicy == nil || *strategy.Policies.CPUPolicy != slov1alpha1.CPUQOSPolicyCoreSched {
		return Group{Reason: "the CPU policy is not coreSched"}
	}
	qos := strategy.OfClass(pod.QoS)
	if qos == nil || qos.CPUQOS == nil || qos.CPUQOS.Enable == nil || !*qos.CPUQOS.Enable {
		return Group{Reason: "the class is switched off"}
	}
	out := Group{Cookie: true, Idle: qos.CPUQOS.SchedIdle != nil && *qos.CPUQOS.SchedIdle == 1}
	switch pod.Policy {
	case extension.CoreSchedPolicyNone:
		out.Cookie, out.Reason = false, "the pod opts out of core scheduling"
		return out
	case extension.CoreSchedPolicyExclusive:
		out.ID, out.Reason = pod.UID, "the pod shares cores with no other"
		return out
	}
	out.ID, out.Reason = pod.GroupID, "the pod shares cores with its group"
	if qos.CPUQOS.CoreExpeller != nil && *qos.CPUQOS.CoreExpeller {
		out.ID, out.Reason = pod.GroupID+expellerSuffix, "the pod shares cores with its group, and expels the others"
	}
	return out
}
