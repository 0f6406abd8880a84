package quota

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// maxHolders bounds the holders that are named in a message and listed as operands.
const (
	maxHoldersNamed  = 3
	maxHoldersListed = 10
)

// Phrase says in a few words what is short, for a summary.
func Phrase(list []Shortage) string {
	var names []string
	for _, s := range list {
		names = append(names, string(s.Resource))
	}
	if len(list) == 0 {
		return "quota exceeded"
	}
	return fmt.Sprintf("quota %s has insufficient %s", list[0].Quota, strings.Join(names, ", "))
}

// Message says a refusal with its numbers: which quota, on which level, what it lacks, what bounds it and who holds the
// part beyond their min.
func Message(list []Shortage) string {
	var sentences []string
	for i := range list {
		sentences = append(sentences, list[i].message())
	}
	for i := range list {
		for _, problem := range list[i].Problems {
			sentences = append(sentences, fmt.Sprintf("%s, quota %s: %s", problem.Code, problem.Quota, problem.Message))
		}
	}
	return strings.Join(sentences, "; ")
}

// MessageUnknown is Message for a pod that names a quota which does not exist.
func MessageUnknown(named string, list []Shortage) string {
	return fmt.Sprintf("quota %q does not exist, so the pod belongs to the default quota; %s", named, Message(list))
}

func (s *Shortage) message() string {
	var b strings.Builder
	fmt.Fprintf(&b, "quota %s%s: %s used %s + this pod %s > %s %s", s.Quota, s.place(), s.Resource, s.amount(s.Used), s.amount(s.Asked), s.limitName(), s.amount(s.Limit))
	switch {
	case s.code == finding.QuotaNonPreemptibleExceeded || s.Bound == s.Quota:
		return b.String()
	case isRoot(s.Bound):
		fmt.Fprintf(&b, " of max %s; the tree has %s in total", s.amount(s.Max), s.amount(s.BoundAmount))
	default:
		fmt.Fprintf(&b, " of max %s; quota %s above is at its max of %s", s.amount(s.Max), s.Bound, s.amount(s.BoundAmount))
	}
	if len(s.Holders) > 0 {
		b.WriteString("; above their min: " + s.holders())
	}
	if s.capped() {
		fmt.Fprintf(&b, "; its min of %s counts as %s, because the mins beside it add up to more than there is", s.amount(s.Min), s.amount(s.Guaranteed))
	}
	if s.Reserved > 0 {
		fmt.Fprintf(&b, "; %s of the min of other quotas is not lent", s.amount(s.Reserved))
	}
	return b.String()
}

// capped is true where the quota is guaranteed less than its min.
func (s *Shortage) capped() bool { return s.Guaranteed < s.Min }

// place says which level of the tree it is.
func (s *Shortage) place() string {
	if s.Level > 0 {
		return fmt.Sprintf(" (level %d above the pod's quota)", s.Level)
	}
	if len(s.Path) > 1 {
		return " (under " + s.Path[1] + ")"
	}
	return ""
}

func (s *Shortage) limitName() string {
	switch {
	case s.code == finding.QuotaNonPreemptibleExceeded:
		return "min (the pod is not preemptible)"
	case s.Limit == s.Max:
		return "max"
	}
	return "runtime"
}

func (s *Shortage) holders() string {
	var named []string
	for _, holder := range s.Holders[:min(maxHoldersNamed, len(s.Holders))] {
		named = append(named, fmt.Sprintf("%s holds %s (uses %s of %s)", holder.Quota, s.amount(holder.Borrowed), s.amount(holder.Used), s.amount(holder.Runtime)))
	}
	if more := len(s.Holders) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return strings.Join(named, ", ")
}

func (s *Shortage) amount(value int64) string {
	quantity := Quantity(s.Resource, value)
	return quantity.String()
}

// Operands of a refusal.
func Operands(list []Shortage) []diagnosticsv1alpha1.Term {
	var terms []diagnosticsv1alpha1.Term
	for i := range list {
		terms = append(terms, list[i].operands()...)
	}
	return terms
}

func (s *Shortage) operands() []diagnosticsv1alpha1.Term {
	key, unit, info := termName(s.Resource), unitOf(s.Resource), diagnosticsv1alpha1.Info
	own := func(field string) *diagnosticsv1alpha1.SourceRef {
		return &diagnosticsv1alpha1.SourceRef{Kind: "ElasticQuota", Name: s.Quota, Field: field}
	}
	bound := diagnosticsv1alpha1.Term{Name: key + "Bound", Operator: info, Value: s.BoundAmount, Unit: unit, Note: "total of the tree"}
	if !isRoot(s.Bound) {
		bound.Note = "max of quota " + s.Bound
		bound.Source = &diagnosticsv1alpha1.SourceRef{Kind: "ElasticQuota", Name: s.Bound, Field: "spec.max"}
	}
	terms := []diagnosticsv1alpha1.Term{
		{Name: key + "Used", Operator: info, Value: s.Used, Unit: unit, Source: own("status.used"), Note: s.levelNote()},
		{Name: key + "ThisPod", Operator: info, Value: s.Asked, Unit: unit},
		{Name: key + "Limit", Operator: info, Value: s.Limit, Unit: unit, Note: s.limitName()},
		{Name: key + "Missing", Operator: info, Value: s.Missing(), Unit: unit},
		{Name: key + "Min", Operator: info, Value: s.Min, Unit: unit, Source: own("spec.min")},
		{Name: key + "Max", Operator: info, Value: s.Max, Unit: unit, Source: own("spec.max")},
		bound,
	}
	if s.capped() {
		terms = append(terms, diagnosticsv1alpha1.Term{Name: key + "Guaranteed", Operator: info, Value: s.Guaranteed, Unit: unit, Note: "what min counts for: the mins add up to more than there is"})
	}
	if len(s.Holders) > 0 {
		terms = append(terms, s.holdersTerm(key, unit))
	}
	return terms
}

func (s *Shortage) levelNote() string {
	return fmt.Sprintf("quota %s, level %d of %d from the top", s.Quota, len(s.Path), len(s.Path)+s.Level)
}

func (s *Shortage) holdersTerm(key string, unit diagnosticsv1alpha1.Unit) diagnosticsv1alpha1.Term {
	term := diagnosticsv1alpha1.Term{Name: key + "Borrowed", Operator: diagnosticsv1alpha1.Info, Unit: unit, Note: "used by other quotas above their min"}
	for i, holder := range s.Holders {
		term.Value = saturatedSum(term.Value, holder.Borrowed)
		if i >= maxHoldersListed {
			term.PartsOmitted++
			continue
		}
		term.Parts = append(term.Parts, diagnosticsv1alpha1.Term{
			Name: holder.Quota, Operator: diagnosticsv1alpha1.Plus, Value: holder.Borrowed, Unit: unit,
			Source: &diagnosticsv1alpha1.SourceRef{Kind: "ElasticQuota", Name: holder.Quota},
			Note:   fmt.Sprintf("uses %s of runtime %s, min %s, under %s", s.amount(holder.Used), s.amount(holder.Runtime), s.amount(holder.Min), holder.Under),
		})
	}
	return term
}

// termName makes a lowerCamelCase key of a resource name: cpu, nvidiaComGpu.
func termName(name corev1.ResourceName) string {
	words := strings.FieldsFunc(string(name), func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

// Distance is how far a pod is from fitting: what it lacks of the scarcest resource, in proportion to what it asks for.
func Distance(list []Shortage) float64 {
	var distance float64
	for i := range list {
		distance = max(distance, float64(list[i].Missing())/float64(max(1, list[i].Asked)))
	}
	return distance
}
