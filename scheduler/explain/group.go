package explain

import (
	"cmp"
	"context"

	"koordinator.sh/koord/decision/scheduling/refusals"
	"koordinator.sh/koord/scheduler/reason"
)

// groupRefusals asks what each refusal of an evaluation is about, and groups them.
func (s *simulation) groupRefusals(ctx context.Context, e *evaluation) []*refusals.Group {
	nodes, refused := make([]string, len(e.nodes)), make([][]refusals.Refusal, len(e.nodes))
	inParallel(ctx, len(e.nodes), func(i int) {
		nodes[i], refused[i] = e.nodes[i].Node().Name, make([]refusals.Refusal, len(e.refusals[i]))
		for j, r := range e.refusals[i] {
			refused[i][j] = s.publish(r, s.subjectOn(ctx, e, i, r))
		}
	})
	return refusals.GroupByReason(nodes, refused)
}

// subjectOn is what a refusal of the node with an index is about.
func (s *simulation) subjectOn(ctx context.Context, e *evaluation, node int, r refusal) reason.Subject {
	if e.held != nil && r.plugin == e.held.by.Name() && r.reason == e.held.reason {
		return e.held.subject
	}
	return s.inspect(ctx, e.states[node], e.pod, e.filtered[node], r)
}

func (s *simulation) publish(r refusal, of reason.Subject) refusals.Refusal {
	return refusals.Refusal{
		Plugin: r.plugin, Reason: r.reason, Introduction: r.introduction, Code: cmp.Or(of.Code, s.codeOf(r)), Key: of.Key, Phrase: of.Phrase,
		Distance: of.Distance, Final: r.final, Everywhere: r.everywhere, Mentions: of.Mentions, ReasonMentions: of.ReasonMentions, Describe: of.Describe,
	}
}
