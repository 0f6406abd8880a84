package rebalance

import (
	"fmt"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// MaxReviewed is the most moves that one review takes, and so the most of a pass that is reviewed.
const MaxReviewed = diagnosticsv1alpha1.MaxPlacementReviewPods

// maxReviews bounds the reviews of one pass. Each of them confirms the plan, or refuses at least one pair of a pod and a target.
const maxReviews = 8

// Proposal is a move that the scheduler is asked about.
type Proposal struct {
	Pod int
	// Targets are the planned one and behind it those that are worth the move as well, in the order in which they are tried.
	Targets []int
}

// Opinion is what the scheduler says of a Proposal.
type Opinion struct {
	// Node is the first of the targets that the scheduler takes; -1 if it takes none.
	Node int
	// Reasons for which nodes were refused, where the scheduler says so.
	Reasons map[int]string
	// Immovable says why the pod cannot be moved to any node; empty if it can.
	Immovable string
}

// Reviewer asks the scheduler about moves in their order: each finds the pods of those before it on their new nodes. It returns one opinion
// for each proposal. An error means that the scheduler could not be asked.
type Reviewer func(proposals []Proposal) ([]Opinion, error)

// DecideReviewed is Decide with moves that the scheduler confirmed, with all of its filters. What it refuses is planned again. A pass takes
// few reviews, however many pods it moves; at most MaxReviewed are. When the scheduler cannot be asked, the plan has no moves, and the error
// says why; its other steps are valid.
func DecideReviewed(in Input, review Reviewer, trace *Trace) (Plan, error) {
	known := &verdicts{refused: map[[2]int]string{}, immovable: map[int]string{}, next: in.Feasible}
	in.Args = in.Args.withMoves(min(*in.Args.MaxMovesPerPass, MaxReviewed))
	in.Feasible = known.feasible
	for number := 1; ; number++ {
		plan := Decide(in, trace)
		proposals := plan.proposals()
		if len(proposals) == 0 {
			return plan, nil
		}
		opinions, err := review(proposals)
		if err == nil && len(opinions) != len(proposals) {
			err = fmt.Errorf("%d opinions on %d moves", len(opinions), len(proposals))
		}
		if err != nil {
			known.failure = "koord-scheduler cannot be asked: " + err.Error()
			return Decide(in, trace), err
		}
		confirmed := agreed(proposals, opinions)
		if confirmed == len(proposals) {
			return plan, nil
		}
		if number == maxReviews {
			// The same plan up to there: each of these moves was confirmed with those before it.
			in.Args = in.Args.withMoves(int64(confirmed))
			return Decide(in, trace), nil
		}
		known.take(proposals, opinions)
	}
}

// withMoves are the arguments with another bound of the moves of a pass.
func (a *Args) withMoves(most int64) *Args {
	changed := *a
	changed.MaxMovesPerPass = &most
	return &changed
}

// proposals are the moves of the plan.
func (p Plan) proposals() []Proposal {
	var proposals []Proposal
	for _, step := range p.Steps {
		if step.Remedy == Migrate {
			others := step.Others[:min(len(step.Others), diagnosticsv1alpha1.MaxPlacementReviewTargets-1)]
			proposals = append(proposals, Proposal{Pod: step.Pod, Targets: append([]int{step.Target}, others...)})
		}
	}
	return proposals
}

// agreed counts the moves before the first for which the scheduler does not take the planned target.
func agreed(proposals []Proposal, opinions []Opinion) int {
	for i := range opinions {
		if opinions[i].Immovable != "" || opinions[i].Node != proposals[i].Targets[0] {
			return i
		}
	}
	return len(opinions)
}

// verdicts are what the scheduler said in the reviews of a pass.
type verdicts struct {
	// refused pairs of a pod and a node, and pods that cannot be moved, with the reasons.
	refused   map[[2]int]string
	immovable map[int]string
	// failure is why the scheduler cannot be asked.
	failure string
	// next is asked of all others.
	next Feasibility
}

// take remembers what is refused: every target before the one that the scheduler takes.
func (v *verdicts) take(proposals []Proposal, opinions []Opinion) {
	for i, opinion := range opinions {
		if opinion.Immovable != "" {
			v.immovable[proposals[i].Pod] = opinion.Immovable
			continue
		}
		for _, target := range proposals[i].Targets {
			if target == opinion.Node {
				break
			}
			reason := opinion.Reasons[target]
			if reason == "" {
				reason = "node(s) refused by koord-scheduler"
			}
			v.refused[[2]int{proposals[i].Pod, target}] = reason
		}
	}
}

func (v *verdicts) feasible(pod, node int, moves []Move) (string, bool) {
	if v.failure != "" {
		return v.failure, false
	}
	if why := v.immovable[pod]; why != "" {
		return why, false
	}
	if reason, refused := v.refused[[2]int{pod, node}]; refused {
		return reason, false
	}
	if v.next == nil {
		return "", true
	}
	return v.next(pod, node, moves)
}
