package suppression

import (
	"cmp"
	"slices"
	"time"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/waterfall"
)

// DefaultThresholdPercent is cpuSuppressThresholdPercent where it is not set.
const DefaultThresholdPercent = 65

// Load is the CPU that one pod or host application uses.
type Load struct {
	// Namespace of the pod; empty for host applications.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// QoS of the pod or application; everything but BE is above best effort.
	QoS extension.QoSClass `json:"qos,omitempty"`
	// Used CPU in milli-cores; negative figures count as zero.
	Used int64 `json:"used"`
}

// Measurement is what was measured of one node.
type Measurement struct {
	freshness.Observation
	// Capacity of the node in milli-cores, before anything is reserved.
	Capacity int64 `json:"capacity"`
	// Reserved CPU in milli-cores: by the kubelet or by the node's annotation, whichever is more.
	Reserved int64 `json:"reserved"`
	// NodeUsed is the CPU that the whole node uses, in milli-cores.
	NodeUsed int64 `json:"nodeUsed"`
	// Pods and HostApplications with what they use. Those that could not be measured are left out: what they use is then
	// part of what the node uses beyond them, which is taken from the budget just the same.
	Pods             []Load `json:"pods,omitempty"`
	HostApplications []Load `json:"hostApplications,omitempty"`
	// Relief is what best effort gives up besides; the zero value is nothing.
	Relief Relief `json:"relief,omitzero"`
}

// Relief is a part of the budget that best effort gives up because it disturbs services.
type Relief struct {
	// Percent of the budget that is left, 1 to 99; any other value leaves it whole.
	Percent int64 `json:"percent"`
	// Why in words.
	Why string `json:"why,omitempty"`
}

// Input is everything the suppression of one node depends on. Nothing in it is modified.
type Input struct {
	// Now is the time of the decision.
	Now time.Time
	// Strategy in force; nil is disabled.
	Strategy *slov1alpha1.ResourceThresholdStrategy
	// Measurement of the node.
	Measurement Measurement
	// CPUs of the node and who owns them. A nil topology decides no CPUs.
	CPUs CPUs
	// CurrentCPUs are those that best-effort pods can run on now, and CurrentQuota their quota in microseconds, -1 for none.
	CurrentCPUs  cpuset.CPUSet
	CurrentQuota int64
}

// sums of what loads use.
type sums struct {
	// all of them, those above best effort, and best-effort ones.
	all, above, bestEffort int64
	// byQoS are the parts of above, largest first, each with its largest loads.
	byQoS []waterfall.Term
}

// maxParts bounds the loads that are listed of one class.
const maxParts = 10

// sum adds up loads. The parts are made only to be recorded.
func sum(loads []Load, record bool) sums {
	var out sums
	classes := map[extension.QoSClass][]Load{}
	for _, load := range loads {
		load.Used = max(load.Used, 0)
		out.all = waterfall.Add(out.all, load.Used)
		if load.QoS == extension.QoSBE {
			out.bestEffort = waterfall.Add(out.bestEffort, load.Used)
			continue
		}
		out.above = waterfall.Add(out.above, load.Used)
		if !record {
			continue
		}
		classes[load.QoS] = append(classes[load.QoS], load)
	}
	for class, members := range classes {
		out.byQoS = append(out.byQoS, classTerm(class, members))
	}
	slices.SortFunc(out.byQoS, func(a, b waterfall.Term) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// classTerm is what the loads of one class use together, with the largest of them.
func classTerm(class extension.QoSClass, loads []Load) waterfall.Term {
	name := string(class)
	if class == extension.QoSNone {
		name = "none"
	}
	term := part(name, 0)
	slices.SortFunc(loads, func(a, b Load) int {
		return cmp.Or(cmp.Compare(b.Used, a.Used), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for i, load := range loads {
		term.Value = waterfall.Add(term.Value, load.Used)
		if i >= maxParts {
			term.PartsOmitted++
			continue
		}
		used := part(load.key(), load.Used)
		if load.Namespace != "" {
			used.Object = &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: load.Namespace, Name: load.Name}
		}
		term.Parts = append(term.Parts, used)
	}
	return term
}

// key is namespace/name, or the name of what has no namespace.
func (l Load) key() string {
	if l.Namespace == "" {
		return l.Name
	}
	return l.Namespace + "/" + l.Name
}
