package explain

import (
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/scheduler/reason"
)

// unfit is what the scheduler writes to a pod that no node takes: on each node it stops at the first plugin that refuses, and before
// any node where PreFilter refuses all of them.
func (e *evaluation) unfit() string {
	fit := framework.FitError{Pod: e.pod, NumAllNodes: len(e.nodes), Diagnosis: framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}}
	for i, refusals := range e.refusals {
		if len(refusals) == 0 {
			continue
		}
		status := firstStatus(refusals)
		if refusals[0].everywhere {
			fit.Diagnosis.PreFilterMsg = status.Message()
			break
		}
		fit.Diagnosis.NodeToStatus.Set(e.nodes[i].Node().Name, status)
	}
	return fit.Error()
}

// firstStatus has the reasons of the plugin that refuses first. A node that PreFilter leaves out is not looked at by any filter.
func firstStatus(refusals []refusal) *fwk.Status {
	var reasons []string
	for _, r := range refusals {
		if !refusals[0].everywhere && reason.ExcludedBy(r.reason) == r.plugin {
			return fwk.NewStatus(fwk.Unschedulable, r.reason).WithPlugin(r.plugin)
		}
	}
	for _, r := range refusals {
		if r.plugin == refusals[0].plugin && r.everywhere == refusals[0].everywhere {
			if len(reasons) == 0 && r.introduction != "" {
				reasons = append(reasons, r.introduction)
			}
			reasons = append(reasons, r.reason)
		}
	}
	return fwk.NewStatus(fwk.Unschedulable, reasons...).WithPlugin(refusals[0].plugin)
}

// explain makes what refuses the pod that holds this one back part of the reason.
func (e *evaluation) explain(why string) {
	before := e.held.reason
	e.held.reason, e.held.subject = e.held.by.HeldBack(e.pod, e.held.refused, e.held.placed, why)
	for i := range e.refusals {
		for j := range e.refusals[i] {
			if r := &e.refusals[i][j]; r.plugin == e.held.by.Name() && r.reason == before {
				r.reason = e.held.reason
			}
		}
	}
}
