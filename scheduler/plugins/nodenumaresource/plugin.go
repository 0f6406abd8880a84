package nodenumaresource

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/reason"
	"koordinator.sh/koord/scheduler/recovery"
)

// Name of the plugin.
const Name = numa.PluginName

// State is what the plugin reads and, in Reserve, writes.
type State interface {
	// Node returns what a node offers.
	Node(node *corev1.Node) *numa.Node
	// Ledger returns what is left of a node as the NodeInfo shows it.
	Ledger(info fwk.NodeInfo) *numa.Ledger
	// Report of a node, nil when there is none.
	Report(node string) *topologyv1alpha1.NodeResourceTopology
	// Reserve remembers what a pod was given, until it is gone.
	Reserve(node string, pod *corev1.Pod, allocation numa.Allocation)
	// Unreserve takes back Reserve.
	Unreserve(pod types.UID)
	// Demanding is true when some node asks something of pods that ask nothing by themselves.
	Demanding() bool
	// Changes counts changes of what nodes offer.
	Changes() uint64
	// Refresh takes over what the informers show of a node.
	Refresh(node string)
}

// Plugin implements NodeNUMAResource for one profile. It is safe for concurrent use.
type Plugin struct {
	args   *numa.Args
	state  State
	hooks  *Hooks
	handle fwk.Handle
	nodes  corelisters.NodeLister
}

var (
	_ fwk.PreFilterPlugin   = &Plugin{}
	_ fwk.FilterPlugin      = &Plugin{}
	_ fwk.PreScorePlugin    = &Plugin{}
	_ fwk.ScorePlugin       = &Plugin{}
	_ fwk.ReservePlugin     = &Plugin{}
	_ fwk.PreBindPlugin     = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
	_ fwk.SignPlugin        = &Plugin{}
	_ reason.Explainer      = &Plugin{}
	_ reason.Coder          = &Plugin{}
	_ reason.Adviser        = &Plugin{}
)

// Factory returns the constructor that a scheduler registers. All profiles share the state and the hooks. Arguments that
// cannot be decoded or are out of range are errors, and the scheduler does not start.
func Factory(shared State, hooks *Hooks) frameworkruntime.PluginFactory {
	return func(_ context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		args, err := numa.DecodeArgs(object)
		if err != nil {
			return nil, err
		}
		return &Plugin{args: args, state: shared, hooks: hooks, handle: handle, nodes: handle.SharedInformerFactory().Core().V1().Nodes().Lister()}, nil
	}
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// PreFilter reads what the pod asks for. It skips pods that ask for nothing, unless some node asks something of them.
func (p *Plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreFilter, pod, &status)
	demanding := p.state.Demanding()
	if !demanding && !numa.MayBind(pod) {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	request, verdict := numa.RequestOf(pod, p.args)
	if !verdict.Passed() {
		return nil, statusOf(verdict)
	}
	if !demanding && !request.Aligned() {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	state.Write(stateKey, &cycle{request: request, profile: p.hooks.of(p.handle)})
	return nil, nil
}

// PreFilterExtensions returns nil: a NodeInfo with pods added or removed has its right ledger by itself.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// statusOf turns a refusal into a status; nil when there is none.
func statusOf(verdict numa.Verdict) *fwk.Status {
	switch {
	case verdict.Passed():
		return nil
	case verdict.Unresolvable():
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, verdict.Reason())
	}
	return fwk.NewStatus(fwk.Unschedulable, verdict.Reason())
}
