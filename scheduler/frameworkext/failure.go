package frameworkext

import (
	"context"
	"errors"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/scheduler/recorder"
)

// RecordFailures puts the recorder in front of a scheduler's failure handler.
func RecordFailures(next scheduler.FailureHandlerFn, attempts *recorder.Recorder) scheduler.FailureHandlerFn {
	return func(ctx context.Context, profile framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		attempts.Fail(pod.Pod, failureOf(status, nominating))
		next(ctx, profile, pod, status, nominating, start)
	}
}

func failureOf(status *fwk.Status, nominating *fwk.NominatingInfo) recorder.Failure {
	failure := recorder.Failure{Outcome: recorder.Failed, Message: status.Message()}
	if status.IsRejected() {
		failure.Outcome = recorder.Unschedulable
	}
	if nominating != nil {
		failure.Nominated = nominating.NominatedNodeName
	}
	var unfit *framework.FitError
	if errors.As(status.AsError(), &unfit) {
		failure.Refusals = refusalsOf(unfit)
	}
	return failure
}

// refusalsOf counts the nodes of each plugin and reason. What PreFilter refused counts for all nodes.
func refusalsOf(unfit *framework.FitError) []recorder.Refusal {
	type reason struct{ plugin, text string }
	counts := map[reason]int32{}
	explicit := int32(0)
	count := func(status *fwk.Status, nodes int32) {
		for _, text := range status.Reasons() {
			counts[reason{status.Plugin(), text}] += nodes
		}
	}
	unfit.Diagnosis.NodeToStatus.ForEachExplicitNode(func(_ string, status *fwk.Status) {
		explicit++
		count(status, 1)
	})
	if rest := int32(unfit.NumAllNodes) - explicit; rest > 0 {
		count(unfit.Diagnosis.NodeToStatus.AbsentNodesStatus(), rest)
	}
	refusals := make([]recorder.Refusal, 0, len(counts))
	for of, nodes := range counts {
		refusals = append(refusals, recorder.Refusal{Plugin: of.plugin, Reason: of.text, Nodes: nodes})
	}
	return refusals
}
