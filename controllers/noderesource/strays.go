package noderesource

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/scheduling/device"
)

// WithDevices makes the explainer look for pods that hold devices which are gone. Devices are read through the reader when a
// question is asked, and not watched: nothing else of the manager needs them.
func (e *Explainer) WithDevices(reader client.Reader) *Explainer {
	e.devices = reader
	return e
}

// addStrays adds what is found of the devices of the node. A cluster or a node without Devices has nothing to be found.
func (e *Explainer) addStrays(ctx context.Context, in *overcommit.NodeInput, status *diagnosticsv1alpha1.NodeExplanationStatus) {
	if e.devices == nil {
		return
	}
	object := &schedulingv1alpha1.Device{}
	switch err := e.devices.Get(ctx, types.NamespacedName{Name: in.Node.Name}, object); {
	case err == nil:
		status.Findings = append(status.Findings, device.OrphanFindings(object, in.Node.Labels, in.Pods)...)
	case !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err):
		status.Incomplete = append(status.Incomplete, "failed to check whether pods hold removed devices: "+err.Error())
	}
}
