package loadaware

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
)

// ReasonExpired is the refusal of a node whose NodeMetric has expired, as it stands in events.
const ReasonExpired = "node(s) nodeMetric expired"

// Verdict is the result of Filter. The zero value passes.
type Verdict struct {
	// Code is empty when the node passes.
	Code finding.Code
	// Resource whose threshold is exceeded; empty when the NodeMetric has expired.
	Resource corev1.ResourceName
	// Profile the comparison was made under.
	Profile Profile
	// Percent is the usage with the pod, of raw allocatable.
	Percent int64
	// Threshold that it exceeds.
	Threshold int64
}

// Passed is true when the node is not too busy.
func (v Verdict) Passed() bool { return v.Code == "" }

// Reason is the refusal as it stands in events; empty when the node passes.
func (v Verdict) Reason() string {
	switch v.Code {
	case "":
		return ""
	case finding.LoadMetricExpired:
		return ReasonExpired
	}
	return reasonBegin + string(v.Resource) + endings[v.Code]
}

// reasonBegin stands before the resource of a refusal, and endings after it.
const reasonBegin = "node(s) "

var endings = map[finding.Code]string{
	finding.LoadAggregatedExceeded: " aggregated usage exceed threshold",
	finding.LoadThresholdExceeded:  " usage exceed threshold",
}

// CodeOf returns the code of a reason, empty for a text that is none of Filter's.
func CodeOf(reason string) finding.Code {
	if reason == ReasonExpired {
		return finding.LoadMetricExpired
	}
	about, found := strings.CutPrefix(reason, reasonBegin)
	for code, ending := range endings {
		if resource, ends := strings.CutSuffix(about, ending); found && ends && resource != "" && !strings.Contains(resource, " ") {
			return code
		}
	}
	return ""
}

// Filter says whether a node is too busy for a pod. A nil trace records nothing, and then nothing is allocated. With one,
// the comparisons go on after the first refusal, which stays the verdict.
//
// A node passes when the pod belongs to a DaemonSet, when no threshold applies, and when nothing is known of its load.
func Filter(in Input, trace *Trace) Verdict {
	profile, limits := in.Node.thresholds.profileFor(in.Pod.Prod)
	trace.begin(&in, profile, limits != nil)
	if in.Pod.DaemonSet || limits == nil {
		return Verdict{}
	}
	switch in.Node.metric.stateAt(in.Now, in.Policy.expiration) {
	case unknown:
		return Verdict{}
	case expired:
		if *in.Policy.args.FilterExpiredNodeMetrics {
			if *in.Policy.args.EnableScheduleWhenNodeMetricsExpired {
				return Verdict{}
			}
			return Verdict{Code: finding.LoadMetricExpired, Profile: profile}
		}
		if in.Node.metric.latest == nil {
			return Verdict{}
		}
	}
	return compare(&in, profile, limits, trace)
}

// compare holds the usage of a node against the thresholds of one profile.
func compare(in *Input, profile Profile, limits []int64, trace *Trace) Verdict {
	base, pending := in.Node.usage(profile)
	verdict := Verdict{}
	for i, limit := range limits {
		capacity := in.Node.capacity[i]
		if limit == 0 || capacity <= 0 {
			continue
		}
		used := percent(base[i]+pending[i]+in.Pod.Usage[i], capacity)
		if trace != nil {
			trace.compared(in, profile, i, limit)
		}
		if used <= limit || !verdict.Passed() {
			continue
		}
		verdict = Verdict{Code: finding.LoadThresholdExceeded, Resource: in.Policy.resources[i], Profile: profile, Percent: used, Threshold: limit}
		if profile == Aggregated {
			verdict.Code = finding.LoadAggregatedExceeded
		}
		if trace == nil {
			return verdict
		}
	}
	return verdict
}

// profileFor picks the thresholds for a pod; nil when none apply.
func (t *thresholds) profileFor(prod bool) (Profile, []int64) {
	switch {
	case prod && t.prod != nil:
		return Prod, t.prod
	case t.aggregated != nil:
		return Aggregated, t.aggregated
	}
	return Plain, t.plain
}

// usage returns what the NodeMetric reports under a profile, and what assigned pods will add to it.
func (n *Node) usage(profile Profile) (base, pending []int64) {
	switch profile {
	case Prod:
		return n.metric.prod, n.prod
	case Aggregated:
		return n.metric.aggregated, n.everyone
	}
	return n.metric.latest, n.everyone
}
