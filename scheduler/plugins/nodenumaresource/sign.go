package nodenumaresource

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/recovery"
)

// signerName keys the plugin's part of a pod's signature.
const signerName = "koordinator.sh/NodeNUMAResource"

// signature is all that the verdict on an ordinary pod depends on besides nodes and their pods.
type signature struct {
	Amounts numa.Amounts `json:"amounts"`
	// Changes of what nodes offer.
	Changes uint64 `json:"changes"`
}

// SignPod lets the scheduler place equal pods in a batch, unless they are allocated CPUs or zones: what one gets changes what
// is left for the next. Pods that the plugin skips add nothing to the signature.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Sign, pod, &status)
	demanding := p.state.Demanding()
	if !demanding && !numa.MayBind(pod) {
		return nil, nil
	}
	request, verdict := numa.RequestOf(pod, p.args)
	if !verdict.Passed() || request.Aligned() {
		return nil, fwk.NewStatus(fwk.Unschedulable, "the pod requests exclusive CPUs or NUMA zones")
	}
	if !demanding {
		return nil, nil
	}
	return []fwk.SignFragment{{Key: signerName, Value: signature{Amounts: request.Amounts, Changes: p.state.Changes()}}}, nil
}
