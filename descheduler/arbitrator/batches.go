package arbitrator

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/arbitration"
	"koordinator.sh/koord/decision/descheduling/batches"
)

// HeldByPasses says which pending jobs must not start yet, or not at all, because of the other jobs of their pass. Jobs without a pass,
// source or target are not held. A failure ratio of 0 is batches.DefaultFailureRatio.
func HeldByPasses(failureRatio float64) func(jobs []schedulingv1alpha1.PodMigrationJob) map[types.UID]string {
	return func(jobs []schedulingv1alpha1.PodMigrationJob) map[types.UID]string {
		passes, uids := map[string][]batches.Move{}, map[string]types.UID{}
		for i := range jobs {
			if move, pass, ok := moveOf(&jobs[i]); ok {
				passes[pass], uids[move.Name] = append(passes[pass], move), jobs[i].UID
			}
		}
		held := map[types.UID]string{}
		for _, pass := range slices.Sorted(maps.Keys(passes)) {
			if !slices.ContainsFunc(passes[pass], func(move batches.Move) bool { return move.State == batches.Waiting }) {
				continue // most passes are long over
			}
			for name, reason := range heldOf(passes[pass], failureRatio) {
				held[uids[name]] = reason
			}
		}
		return held
	}
}

// heldOf are the moves of a pass that must not start, by name.
func heldOf(moves []batches.Move, failureRatio float64) map[string]string {
	var trace batches.Trace
	verdict := batches.Decide(batches.Input{Moves: moves, FailureRatio: failureRatio}, &trace)
	held := map[string]string{}
	for number, names := range verdict.Batches {
		for _, name := range names {
			held[name] = fmt.Sprintf("batch %d of %d of the pass waits for batch %d", number+1, len(verdict.Batches), verdict.Current+1)
		}
	}
	for _, name := range verdict.Dropped {
		held[name] = trace.Message(verdict, name)
	}
	for _, name := range verdict.Start {
		delete(held, name)
	}
	for _, move := range moves {
		if move.State != batches.Waiting {
			delete(held, move.Name)
		}
	}
	return held
}

// moveOf is the move that a job makes; false for a job of no pass.
func moveOf(job *schedulingv1alpha1.PodMigrationJob) (move batches.Move, pass string, ok bool) {
	pass = job.Annotations[extension.AnnotationMigrationPass]
	move = batches.Move{
		Name: job.Name, From: job.Annotations[extension.AnnotationSourceNode], To: job.Annotations[extension.AnnotationTargetNode], State: batches.Waiting,
	}
	switch state := arbitration.StateOf(job); {
	case job.Status.Phase == schedulingv1alpha1.PodMigrationJobSucceeded:
		move.State = batches.Succeeded
	case state == arbitration.Finished:
		move.State = batches.Failed
	case state == arbitration.Running:
		move.State = batches.Running
	}
	return move, pass, pass != "" && move.From != "" && move.To != "" && move.From != move.To
}
