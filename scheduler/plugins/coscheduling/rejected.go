package coscheduling

import (
	"context"
	"errors"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// ofAllNodes makes the conditions and events of waiting members that are rejected count all nodes, like those of members that are
// refused before they find a node. The scheduler itself would count only the one node that they had found.
func ofAllNodes(next scheduler.FailureHandlerFn, nodes func() int) scheduler.FailureHandlerFn {
	return func(ctx context.Context, profile framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		var unfit *framework.FitError
		if errors.As(status.AsError(), &unfit) && rejected(unfit) != nil {
			status = fwk.NewStatus(status.Code()).WithError(everywhere(unfit, rejected(unfit), nodes()))
		}
		next(ctx, profile, pod, status, nominating, start)
	}
}

// rejected is the status of the single node of a member that waited for the others; nil for any other pod.
func rejected(unfit *framework.FitError) *fwk.Status {
	var found *fwk.Status
	unfit.Diagnosis.NodeToStatus.ForEachExplicitNode(func(_ string, status *fwk.Status) { found = status })
	if unfit.NumAllNodes != 1 || found == nil || found.Plugin() != Name {
		return nil
	}
	return found
}

func everywhere(unfit *framework.FitError, status *fwk.Status, nodes int) *framework.FitError {
	of := *unfit
	of.NumAllNodes = max(nodes, 1)
	of.Diagnosis.NodeToStatus = framework.NewNodeToStatus(map[string]*fwk.Status{}, status)
	return &of
}
