package queryhint

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/freshness"
)

// named bounds the nodes that are named of those left out for one reason.
const named = 3

// Trace records why nodes are preferred or left out. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// Preferred nodes, best first.
	Preferred []extension.QueryHintNode
	// LeftOut are the others by reason, those with most nodes first.
	LeftOut []extension.QueryHintLeftOut
	found   [causes]extension.QueryHintLeftOut
}

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{}
	}
}

// leave records a node that is left out.
func (t *Trace) leave(in *Input, one *ranked, why cause) {
	if t == nil {
		return
	}
	left := &t.found[why]
	left.Reason = reasonOf(in, why)
	left.Count++
	if len(left.Nodes) == named {
		return
	}
	name := one.node.Name
	switch why {
	case stale:
		name += " (" + freshness.Ago(in.Now, one.node.Measured) + ")"
	case hot:
		name += fmt.Sprintf(" (%d%%)", one.used)
	case becomesHot:
		name += fmt.Sprintf(" (%d%%, now %d%%)", one.predicted, one.used)
	}
	left.Nodes = append(left.Nodes, name)
}

func reasonOf(in *Input, why cause) string {
	limit := in.Settings.HotMemoryPercent
	switch why {
	case closed:
		return "the pod may not run there"
	case unmeasured:
		return "memory is not measured"
	case stale:
		return fmt.Sprintf("memory was last measured more than %s ago", in.Settings.Fresh)
	case hot:
		return fmt.Sprintf("memory is hot: %d%% or more is used", limit)
	case becomesHot:
		return fmt.Sprintf("memory is predicted to become hot: %d%% or more within an hour", limit)
	case alone:
		return fmt.Sprintf("no worker of engine %s is there", in.Engine)
	default:
		return fmt.Sprintf("a hint names at most %d nodes, and others are better", in.Settings.MaxNodes)
	}
}

// prefer records the ranked nodes: those within the bound are preferred.
func (t *Trace) prefer(in *Input, order []ranked) {
	if t == nil {
		return
	}
	for i := range order {
		one := &order[i]
		if i >= in.Settings.MaxNodes {
			t.leave(in, one, beyond)
			continue
		}
		node := extension.QueryHintNode{
			Name: one.node.Name, Workers: one.node.Workers, Caches: one.node.Caches, MemoryPercent: int32(one.used),
		}
		if one.predicted >= 0 {
			node.PredictedPercent = new(int32(one.predicted))
		}
		t.Preferred = append(t.Preferred, node)
	}
	for _, left := range t.found {
		if left.Count > 0 {
			t.LeftOut = append(t.LeftOut, left)
		}
	}
	slices.SortStableFunc(t.LeftOut, func(a, b extension.QueryHintLeftOut) int { return cmp.Compare(b.Count, a.Count) })
}

// Hint is what is written to the pod: the verdict with how it came about.
func (t *Trace) Hint(in Input, verdict Verdict) (*extension.SchedulingHint, error) {
	hint := &extension.SchedulingHint{PreferredNodeNames: verdict.Nodes}
	err := extension.SetQueryHint(hint, &extension.QueryHint{
		Writer: extension.QueryHintWriter, ID: in.Seed, Engine: in.Engine, Role: string(in.Role), Time: metav1.NewTime(in.Now),
		Reason: verdict.Reason, Code: string(verdict.Code), Nodes: t.Preferred, LeftOut: t.LeftOut,
	})
	return hint, err
}
