package usageclass

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/api/finding"
)

// Verdict of Filter. The zero value passes.
type Verdict struct {
	Code finding.Code
	Input
	// Percent of the node that the class would request; 0 when the pods are too many.
	Percent int64
	// Limit that is exceeded, in percent, or in pods when Percent is 0.
	Limit int64
}

// Passed is true when the node may take the pod.
func (v Verdict) Passed() bool { return v.Code == "" }

// Reason is the refusal as it stands in events; empty when the node passes.
func (v Verdict) Reason() string {
	if v.Passed() {
		return ""
	}
	return reasons[v.Code] + v.Class
}

// reasons begin the refusals, as they stand in events before the name of the class.
var reasons = map[finding.Code]string{
	finding.UsageClassShare: "node(s) had too much of usage class ",
	finding.UsageClassPods:  "node(s) had too many pods of usage class ",
}

// CodeOf returns the code of a reason, empty for one that Filter does not give.
func CodeOf(reason string) finding.Code {
	for code, begin := range reasons {
		if strings.HasPrefix(reason, begin) {
			return code
		}
	}
	return ""
}

// Message says the verdict with its numbers.
func (v Verdict) Message() string {
	switch v.Code {
	case finding.UsageClassPods:
		return fmt.Sprintf("%d pods of usage class %s are on the node, and at most %d may be", v.Taken.Pods, v.Class, v.Limit)
	case finding.UsageClassShare:
		return fmt.Sprintf("usage class %s requests %d%% of the node's cpu + this pod %d%% > limit %d%%", v.Class,
			percent(v.Taken.MilliCPU, v.Allocatable), v.Percent-percent(v.Taken.MilliCPU, v.Allocatable), v.Limit)
	}
	return ""
}

// Filter says whether a node already has too much of the pod's class.
func Filter(in Input) Verdict {
	maxPercent, maxPods := in.Args.limit(in.Class)
	if maxPods > 0 && in.Taken.Pods+in.Pod.Pods > maxPods {
		return Verdict{Code: finding.UsageClassPods, Input: in, Limit: maxPods}
	}
	if reached := percent(in.Taken.MilliCPU+in.Pod.MilliCPU, in.Allocatable); reached > maxPercent {
		return Verdict{Code: finding.UsageClassShare, Input: in, Percent: reached, Limit: maxPercent}
	}
	return Verdict{}
}

// Score is 100 for a node where the class would request nothing, and falls with the share of the node's cpu that it would
// request, to 0 for all of it.
func Score(in Input) int64 {
	return max(0, 100-percent(in.Taken.MilliCPU+in.Pod.MilliCPU, in.Allocatable))
}

// percent of a whole, rounded up; more than anything when there is no whole.
func percent(part, whole int64) int64 {
	if whole <= 0 {
		if part <= 0 {
			return 0
		}
		return 1 << 31
	}
	return (part*100 + whole - 1) / whole
}
