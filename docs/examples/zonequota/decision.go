package zonequota

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

const (
	// Name of the plugin.
	Name = "ZoneQuota"
	// Kind of its arguments.
	Kind = "ZoneQuotaArgs"
	// CodeZoneFull is the code of a refusal.
	CodeZoneFull finding.Code = "EXAMPLE0001"
	// defaultMaxPods is maxPods when it is not given.
	defaultMaxPods = 10
)

// Args are the arguments of ZoneQuota.
type Args struct {
	metav1.TypeMeta `json:",inline"`
	// MaxPods of one team in one zone, 1 and more; 10 by default.
	MaxPods *int64 `json:"maxPods,omitempty"`
}

// SetDefaults fills in what is not given.
func SetDefaults(args *Args) {
	if args.MaxPods == nil {
		args.MaxPods = new(int64(defaultMaxPods))
	}
}

// Validate reports every value that is out of its range.
func Validate(args *Args) field.ErrorList {
	if *args.MaxPods >= 1 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("maxPods"), *args.MaxPods, "must be at least 1")}
}

// Input of a decision: plain data.
type Input struct {
	Team, Zone string
	// Taken counts the team's pods in the zone.
	Taken int64
	Max   int64
}

// Verdict of Filter. The zero value passes.
type Verdict struct {
	Code finding.Code
	Zone string
}

// Passed is true when the zone may take the pod.
func (v Verdict) Passed() bool { return v.Code == "" }

// Reason is the refusal as it stands in events. It has no numbers, so that equal refusals of many nodes are one.
func (v Verdict) Reason() string {
	if v.Passed() {
		return ""
	}
	return fmt.Sprintf("node(s) were in zone %s, which had enough pods of the team", v.Zone)
}

// Filter decides whether a zone may take one more pod. A nil trace records nothing.
func Filter(in Input, trace *Trace) Verdict {
	trace.begin(in)
	if in.Zone == "" || in.Taken < in.Max {
		return Verdict{}
	}
	return Verdict{Code: CodeZoneFull, Zone: in.Zone}
}

// Score is 100 for a zone without pods of the team and 0 for a full one. Nodes without a zone are in the middle.
func Score(in Input) int64 {
	if in.Zone == "" {
		return 50
	}
	return max(0, in.Max-in.Taken) * 100 / in.Max
}

// Trace records the operands of one Filter call. The zero value is ready for use.
type Trace struct{ input Input }

func (t *Trace) begin(in Input) {
	if t != nil {
		t.input = in
	}
}

// Message says the verdict with its numbers.
func (t *Trace) Message(v Verdict) string {
	operator := "<"
	if !v.Passed() {
		operator = ">="
	}
	return fmt.Sprintf("zone %s has %d pods of team %s %s maxPods %d", t.input.Zone, t.input.Taken, t.input.Team, operator, t.input.Max)
}

// Operands of the verdict, each with where it was read.
func (t *Trace) Operands() []diagnosticsv1alpha1.Term {
	return []diagnosticsv1alpha1.Term{
		{Name: "taken", Operator: diagnosticsv1alpha1.Info, Value: t.input.Taken, Unit: diagnosticsv1alpha1.Count, Note: "pods of team " + t.input.Team},
		{Name: "maxPods", Operator: diagnosticsv1alpha1.Info, Value: t.input.Max, Unit: diagnosticsv1alpha1.Count,
			Source: &diagnosticsv1alpha1.SourceRef{Kind: Kind, Field: "maxPods"}},
	}
}
