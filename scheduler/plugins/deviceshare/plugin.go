package deviceshare

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corelisters "k8s.io/client-go/listers/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
	"koordinator.sh/koord/scheduler/reason"
	"koordinator.sh/koord/scheduler/recovery"
)

// Name of the plugin.
const Name = device.PluginName

// State is what the plugin reads and, in Reserve, writes.
type State interface {
	// Settled is true once all Devices are known.
	Settled() bool
	// Any is true when some node has a Device.
	Any() bool
	// Node returns what the Device of a node offers, nil when the node has none.
	Node(name string) *device.Node
	// Decode returns what a Device offers.
	Decode(object *schedulingv1alpha1.Device) *device.Node
	// Ledger returns what is left of the devices of a node as the NodeInfo shows it, nil when the node has no Device.
	Ledger(info fwk.NodeInfo) *device.Ledger
	// Templates returns the shared-resource templates of a ConfigMap; false when they are not known yet.
	Templates(namespace, name string) (device.Templates, bool)
	// Holds returns what a pod was given, or says that it holds.
	Holds(pod *corev1.Pod) (device.Allocation, bool)
	// Reserve remembers what a pod was given on a node.
	Reserve(node string, pod *corev1.Pod, allocation device.Allocation)
	// Unreserve takes back Reserve.
	Unreserve(pod types.UID)
}

// Plugin implements DeviceShare for one profile. It is safe for concurrent use.
type Plugin struct {
	args   *device.Args
	policy *device.Policy
	state  State
	handle fwk.Handle
	nodes  corelisters.NodeLister
	pods   corelisters.PodLister
	hooks  *Hooks
	// adapts is true when allocations are also written as the device plugins of vendors read them.
	adapts bool
	now    func() time.Time
}

var (
	_ fwk.PreFilterPlugin           = &Plugin{}
	_ fwk.FilterPlugin              = &Plugin{}
	_ fwk.PreScorePlugin            = &Plugin{}
	_ fwk.ScorePlugin               = &Plugin{}
	_ fwk.ReservePlugin             = &Plugin{}
	_ fwk.PreBindPlugin             = &Plugin{}
	_ fwk.EnqueueExtensions         = &Plugin{}
	_ fwk.SignPlugin                = &Plugin{}
	_ reason.Explainer              = &Plugin{}
	_ reason.Coder                  = &Plugin{}
	_ reason.Adviser                = &Plugin{}
	_ nodenumaresource.HintProvider = &Plugin{}
)

// Factory returns the constructor that a scheduler registers. All profiles share the state, the hooks, and those through
// which devices take part in the alignment of NUMA zones; nil keeps them out of it. Arguments that cannot be decoded or are
// out of range are errors, and the scheduler does not start.
func Factory(shared State, hooks *Hooks, alignment *nodenumaresource.Hooks) frameworkruntime.PluginFactory {
	return func(_ context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		args, err := device.DecodeArgs(object)
		if err != nil {
			return nil, err
		}
		plugin := &Plugin{
			args: args, policy: device.NewPolicy(args), state: shared, handle: handle,
			nodes: handle.SharedInformerFactory().Core().V1().Nodes().Lister(), pods: handle.SharedInformerFactory().Core().V1().Pods().Lister(),
			hooks: hooks, adapts: utilfeature.DefaultFeatureGate.Enabled(DevicePluginAdaption), now: time.Now,
		}
		if alignment != nil && !args.DisableDeviceNUMATopologyAlignment {
			alignment.Provide(handle, plugin)
		}
		return plugin, nil
	}
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// cycle is what the plugin knows of the pod of a scheduling cycle. It is not changed.
type cycle struct {
	request   *device.Request
	templates device.Templates
	// namespace and name of the pod.
	namespace, name string
}

// Clone implements StateData.
func (c *cycle) Clone() fwk.StateData { return c }

// cycleOf returns what PreFilter wrote, nil when the plugin skips the pod.
func cycleOf(state fwk.CycleState) *cycle {
	data, err := state.Read(stateKey)
	if err != nil {
		return nil
	}
	found, _ := data.(*cycle)
	return found
}

var (
	errUnknownDevices   = errors.New("the Devices of the cluster are not known yet")
	errUnknownTemplates = errors.New("the shared-resource templates are not known yet")
)

// PreFilter reads what the pod asks for. It skips pods that ask for no device, and all pods while no node has a Device.
// A pod that asks for what no node can serve is refused.
func (p *Plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreFilter, pod, &status)
	if !device.Concerns(pod) {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	if !p.state.Settled() {
		return nil, fwk.AsStatus(errUnknownDevices)
	}
	found, refusal, err := p.parse(pod)
	switch {
	case err != nil:
		return nil, fwk.AsStatus(err)
	case refusal != nil:
		return nil, statusOf(refusal)
	case found.request == nil || !p.state.Any():
		return nil, fwk.NewStatus(fwk.Skip)
	}
	state.Write(stateKey, found)
	return nil, nil
}

// PreFilterExtensions returns nil: a NodeInfo with pods added or removed has its right ledger by itself.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// parse reads what a pod asks for; templates are looked up only for pods that need one.
func (p *Plugin) parse(pod *corev1.Pod) (*cycle, *device.Refusal, error) {
	request, refusal := device.ParseRequest(pod, p.policy, nil)
	if refusal == nil || refusal.Code != finding.GPUTemplateUnmatched {
		return &cycle{request: request, namespace: pod.Namespace, name: pod.Name}, refusal, nil
	}
	at := p.args.GPUSharedResourceTemplatesConfig
	templates, known := p.state.Templates(at.ConfigMapNamespace, at.ConfigMapName)
	if !known {
		return nil, nil, errUnknownTemplates
	}
	request, refusal = device.ParseRequest(pod, p.policy, templates)
	return &cycle{request: request, templates: templates, namespace: pod.Namespace, name: pod.Name}, refusal, nil
}

// Filter refuses nodes whose Device has not enough left. Nodes without a Device pass: they have no devices to choose from.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Filter, pod, &status)
	in, concerned := p.input(state, info)
	if !concerned {
		return nil
	}
	return statusOf(device.Fits(in, nil))
}

// input is the question that a node poses; false when the node has no Device, or the pod asks for none.
func (p *Plugin) input(state fwk.CycleState, info fwk.NodeInfo) (device.Input, bool) {
	c := cycleOf(state)
	if c == nil {
		return device.Input{}, false
	}
	ledger := p.state.Ledger(info)
	if ledger == nil {
		return device.Input{}, false
	}
	in := device.Input{Ledger: ledger, Request: c.request, Policy: p.policy, DevicePlugin: p.devicePlugin(c, ledger, info.Node())}
	if !p.args.DisableDeviceNUMATopologyAlignment {
		if hint, aligned := nodenumaresource.Affinity(state, info.Node().Name); aligned {
			in.Zones = hint.Mask
		}
	}
	return in, true
}

// statusOf turns a refusal into a status; nil when there is none.
func statusOf(refusal *device.Refusal) *fwk.Status {
	switch {
	case refusal == nil:
		return nil
	case refusal.Resolvable:
		return fwk.NewStatus(fwk.Unschedulable, refusal.Reason)
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, refusal.Reason)
}

// PreScore skips pods that ask for no device.
func (p *Plugin) PreScore(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreScore, pod, &status)
	if cycleOf(state) == nil {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

// Score prefers nodes as the scoring strategy says, and those that keep whole GPUs whole.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Score, pod, &status)
	in, concerned := p.input(state, info)
	if !concerned {
		return 0, nil
	}
	return device.Score(in), nil
}

// ScoreExtensions returns nil: scores are absolute.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

// SignPod keeps pods with devices out of batches: each takes what the next one cannot have. Other pods do not concern the
// plugin.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Sign, pod, &status)
	if device.Concerns(pod) {
		return nil, fwk.NewStatus(fwk.Unschedulable, "devices are chosen for each pod by itself")
	}
	return nil, nil
}
