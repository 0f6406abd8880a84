package eviction

import (
	"fmt"
	"math/bits"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
)

// State of a feature on a node.
type State string

const (
	// Off features are not switched on, or the strategy is not.
	Off State = "off"
	// Unset features lack a setting, or one makes no sense.
	Unset State = "unset"
	// Unknown means that what the feature looks at was not measured, too long ago, or could not be read.
	Unknown State = "unknown"
	// Calm features have nothing to release.
	Calm State = "calm"
	// Triggered features want something released.
	Triggered State = "triggered"
)

// Demand is what one feature wants released, and why.
type Demand struct {
	Feature Feature `json:"feature"`
	// Tier whose requests are compared with its offer; empty for features that look at use.
	Tier podrequest.Tier `json:"tier,omitempty"`
	// State, and the Reason for it in one sentence with its numbers.
	State  State  `json:"state"`
	Reason string `json:"reason"`
	// ObservedPercent is compared with ThresholdPercent; TargetPercent is where the eviction stops. For BECPUEvict they are
	// the satisfaction, at which lower is worse; for the others what is used or requested, 1<<62 percent of an offer of nothing.
	ObservedPercent  int64 `json:"observedPercent"`
	ThresholdPercent int64 `json:"thresholdPercent"`
	TargetPercent    int64 `json:"targetPercent"`
	// Margin is by how much use or requests may still grow, or the limit of best-effort pods shrink, before the feature is
	// triggered; 0 when it is. In Unit.
	Margin int64 `json:"margin"`
	// Release is what has to be released, in Unit; 0 unless triggered.
	Release int64                    `json:"release"`
	Unit    diagnosticsv1alpha1.Unit `json:"unit"`
}

// demands are what the features of a node want released, in the order in which they decide. Features that compare requests
// have one for each tier that is requested.
func demands(in *Input, trace *Trace) []Demand {
	var out []Demand
	for _, feature := range Features() {
		out = append(out, demandsOf(in, feature, trace)...)
	}
	return out
}

func demandsOf(in *Input, feature Feature, trace *Trace) []Demand {
	d := Demand{Feature: feature, Unit: feature.Resource().unit()}
	if !in.On[feature] {
		return []Demand{d.in(Off, "the feature is off")}
	}
	if in.Unknown.Has(unknown.NodeSLOs) {
		return []Demand{d.in(Unknown, in.Unknown.Because(unknown.NodeSLOs))}
	}
	if state, reason := d.configure(in.Strategy); state != "" {
		return []Demand{d.in(state, reason)}
	}
	if why := in.Unknown.Because(d.looksAt()...); why != "" {
		return []Demand{d.in(Unknown, why)}
	}
	if problem := in.Node.Assess(in.Now); problem != "" {
		return []Demand{d.in(Unknown, problem)}
	}
	switch {
	case feature == BECPUEvict:
		return []Demand{d.satisfaction(in, trace)}
	case feature.ofRequests():
		return d.allocatable(in, trace)
	}
	return []Demand{d.usage(in, trace)}
}

// looksAt are the inputs that the state of a feature depends on.
func (d Demand) looksAt() []unknown.Input {
	switch {
	case d.Feature == BECPUEvict: // suppression may leave best-effort pods some of the CPUs
		return []unknown.Input{unknown.NodeMetrics, unknown.Pods, unknown.Topologies}
	case d.Feature.ofRequests():
		return []unknown.Input{unknown.NodeMetrics, unknown.Pods}
	}
	return []unknown.Input{unknown.NodeMetrics}
}

// in is the demand in a state, for a reason.
func (d Demand) in(state State, reason string) Demand {
	d.State, d.Reason = state, reason
	return d
}

// usage compares what the node uses with its capacity.
func (d Demand) usage(in *Input, trace *Trace) Demand {
	resource := d.Feature.Resource()
	used, total := resource.of(in.Node.Used), resource.of(in.Node.Capacity)
	if total <= 0 || used < 0 {
		return d.in(Unknown, fmt.Sprintf("usage %d of capacity %d is not plausible", used, total))
	}
	d.ObservedPercent = percentOf(used, total)
	d.Reason = fmt.Sprintf("%d%% of the %s is used; pods are evicted from %d%%", d.ObservedPercent, resource.word(), d.ThresholdPercent)
	if d.ObservedPercent < d.ThresholdPercent {
		d.Margin = max(leastAt(d.ThresholdPercent, total)-used, 0)
		return d.in(Calm, d.Reason)
	}
	w := trace.steps(&d)
	w.Step(diagnosticsv1alpha1.Start, "capacity", total, "")
	w.Step(diagnosticsv1alpha1.Times, "excess", d.ObservedPercent-d.TargetPercent, fmt.Sprintf("%d%% used, at most %d%% allowed", d.ObservedPercent, d.TargetPercent))
	d.Release = trace.released(&d, &w)
	return d.in(Triggered, d.Reason)
}

// word is how a sentence names the resource.
func (r Resource) word() string {
	if r == CPU {
		return "CPU"
	}
	return "memory"
}

// beyond stands for shares too large to be counted, such as a share of nothing.
const beyond = 1 << 62

// percentOf is part/whole in percent, rounded down, with the product in 128 bits; both must not be negative, nor whole zero.
func percentOf(part, whole int64) int64 {
	high, low := bits.Mul64(uint64(part), 100)
	if high >= uint64(whole) {
		return beyond
	}
	quotient, _ := bits.Div64(high, low, uint64(whole))
	return int64(min(quotient, beyond))
}

// leastAt is the smallest part of a whole that makes a percentage.
func leastAt(percent, whole int64) int64 {
	high, low := bits.Mul64(uint64(percent), uint64(whole))
	if high >= 100 {
		return beyond
	}
	quotient, rest := bits.Div64(high, low, 100)
	if rest > 0 {
		quotient++
	}
	return int64(min(quotient, beyond))
}

func orElse(value *int64, fallback int64) int64 {
	if value == nil {
		return fallback
	}
	return *value
}

func cores(milli int64) string { return fmt.Sprintf("%.4g", float64(milli)/1000) }
