package coscheduling

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// TestRejectedMembersAreToldOfAllNodes has a cluster of 20 nodes.
func TestRejectedMembersAreToldOfAllNodes(t *testing.T) {
	unfit := func(all int, plugin string) *framework.FitError {
		of := &framework.FitError{NumAllNodes: all, Diagnosis: framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}}
		of.Diagnosis.NodeToStatus.Set("node-7", fwk.NewStatus(fwk.Unschedulable, "rejected").WithPlugin(plugin))
		of.Diagnosis.UnschedulablePlugins = sets.New(plugin)
		return of
	}
	tests := map[string]struct {
		status *fwk.Status
		want   string
	}{
		"a member that waited":                   {fwk.NewStatus(fwk.Unschedulable).WithError(unfit(1, Name)), "0/20 nodes are available: 20 rejected."},
		"a pod that another plugin rejects":      {fwk.NewStatus(fwk.Unschedulable).WithError(unfit(1, "Other")), "0/1 nodes are available: 1 rejected."},
		"a pod that was held against all nodes":  {fwk.NewStatus(fwk.Unschedulable).WithError(unfit(20, Name)), "0/20 nodes are available: 1 rejected."},
		"a pod whose attempt ended for an error": {fwk.NewStatus(fwk.Error, "timeout"), "timeout"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got *fwk.Status
			handler := ofAllNodes(func(_ context.Context, _ framework.Framework, _ *framework.QueuedPodInfo, status *fwk.Status, _ *fwk.NominatingInfo, _ time.Time) {
				got = status
			}, func() int { return 20 })
			handler(t.Context(), nil, nil, test.status, nil, time.Time{})
			if got.Message() != test.want || got.Code() != test.status.Code() {
				t.Errorf("%s %q, want %s %q", got.Code(), got.Message(), test.status.Code(), test.want)
			}
			if fit, is := got.AsError().(*framework.FitError); test.status.IsRejected() && (!is || fit.Diagnosis.UnschedulablePlugins.Len() != 1) {
				t.Errorf("error %#v, want one that names the plugin, by which the pod is woken", got.AsError())
			}
		})
	}
}
