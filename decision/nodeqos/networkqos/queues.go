package networkqos

import (
	"fmt"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Minor is the number of a queue's class, 1:Minor.
type Minor uint16

// Classes of the queue. Pods whose class is not known are in LS.
const (
	Root   Minor = 1
	System Minor = 2
	LS     Minor = 3
	BE     Minor = 4
)

// leastRate that a class is guaranteed in bits per second: a queue cannot do without any, and one that has so little still may
// borrow what the others leave.
const leastRate Rate = 8_000

// QueueClass is a class of a queue that sends by hierarchical token buckets.
type QueueClass struct {
	Minor  Minor `json:"minor"`
	Parent Minor `json:"parent,omitempty"`
	// Priority in which classes borrow from what is left, the lowest first.
	Priority uint32 `json:"priority"`
	// Rate is guaranteed, and Ceiling bounds.
	Rate    Rate `json:"rate"`
	Ceiling Rate `json:"ceiling"`
}

// Queues is how what a node sends is queued.
type Queues struct {
	// Classes, the root first; none where nothing is to be queued.
	Classes []QueueClass `json:"classes,omitempty"`
	// Reason why there are none; empty where there are.
	Reason string `json:"reason,omitempty"`
	// Problems say which settings count as not set.
	Problems []string `json:"problems,omitempty"`
}

// QueuesOf is the queues of a node with a total bandwidth, by what classes may send.
func QueuesOf(strategy *slov1alpha1.ResourceQOSStrategy, total Rate) Queues {
	if PolicyOf(strategy) != slov1alpha1.NETQOSPolicyTC {
		return Queues{Reason: "the network policy is not tc"}
	}
	classes := []struct {
		minor    Minor
		priority uint32
		config   *slov1alpha1.NetworkQOSCfg
	}{{System, 1, configOf(strategy, extension.QoSSystem)}, {LS, 2, configOf(strategy, extension.QoSLS)}, {BE, 3, configOf(strategy, extension.QoSBE)}}
	switch {
	case !SwitchedOn(strategy, extension.QoSSystem) && !SwitchedOn(strategy, extension.QoSLS) && !SwitchedOn(strategy, extension.QoSBE):
		return Queues{Reason: "no class is switched on"}
	case total <= 0:
		return Queues{Reason: "the bandwidth of the node is not known"}
	}
	out := Queues{Classes: []QueueClass{{Minor: Root, Rate: total, Ceiling: total}}}
	for _, class := range classes {
		bounds := OfClass(class.config, total)
		for _, problem := range bounds.Problems {
			out.Problems = append(out.Problems, fmt.Sprintf("class 1:%d: %s", class.minor, problem))
		}
		rate := max(bounds.Egress.Request, leastRate)
		out.Classes = append(out.Classes, QueueClass{
			Minor: class.minor, Parent: Root, Priority: class.priority, Rate: rate, Ceiling: max(bounds.Egress.Limit, rate),
		})
	}
	return out
}

// MinorOf is the class of a pod's traffic.
func MinorOf(class extension.QoSClass) Minor {
	switch class {
	case extension.QoSSystem:
		return System
	case extension.QoSBE:
		return BE
	}
	return LS
}

// PolicyOf is what enforces bandwidth: traffic control, unless something else is chosen.
func PolicyOf(strategy *slov1alpha1.ResourceQOSStrategy) slov1alpha1.NETQOSPolicy {
	if strategy == nil || strategy.Policies == nil || strategy.Policies.NETQOSPolicy == nil {
		return slov1alpha1.NETQOSPolicyTC
	}
	return *strategy.Policies.NETQOSPolicy
}

func configOf(strategy *slov1alpha1.ResourceQOSStrategy, class extension.QoSClass) *slov1alpha1.NetworkQOSCfg {
	if strategy == nil {
		return nil
	}
	if qos := strategy.OfClass(class); qos != nil {
		return qos.NetworkQOS
	}
	return nil
}

// SwitchedOn says whether a class has separate bandwidth. LSE and LSR pods share that of LS.
func SwitchedOn(strategy *slov1alpha1.ResourceQOSStrategy, class extension.QoSClass) bool {
	return class != extension.QoSLSE && class != extension.QoSLSR && on(configOf(strategy, class))
}

func on(config *slov1alpha1.NetworkQOSCfg) bool {
	return config != nil && config.Enable != nil && *config.Enable
}
