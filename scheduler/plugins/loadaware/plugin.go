package loadaware

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/recovery"
	"koordinator.sh/koord/scheduler/state"
)

// Name of the plugin.
const Name = loadaware.PluginName

// State is what the plugin reads and, in Reserve, writes.
type State interface {
	state.Reader
	// Reserve counts a pod on the node chosen for it.
	Reserve(pod *corev1.Pod, node string, at time.Time)
	// Unreserve takes back Reserve.
	Unreserve(pod *corev1.Pod, node string)
	// MetricsChanged counts changes of NodeMetrics.
	MetricsChanged() uint64
}

// Plugin implements LoadAwareScheduling for one profile. It is safe for concurrent use.
type Plugin struct {
	policy *loadaware.Policy
	state  State
	nodes  corelisters.NodeLister
	now    func() time.Time
	seen   *observations
	// supposed serves queueing hints.
	supposed hypotheses
	// epoch dates what signatures are valid for.
	epoch epoch
	// signed is the estimate of the pod that was signed last, which is scheduled next.
	signed atomic.Pointer[estimated]
}

var (
	_ fwk.PreFilterPlugin   = &Plugin{}
	_ fwk.FilterPlugin      = &Plugin{}
	_ fwk.ScorePlugin       = &Plugin{}
	_ fwk.ReservePlugin     = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
	_ fwk.SignPlugin        = &Plugin{}
)

// Factory returns the constructor that a scheduler registers. All profiles share the state. Arguments that cannot be
// decoded or are out of range are errors, and the scheduler does not start.
func Factory(shared State, now func() time.Time) frameworkruntime.PluginFactory {
	return func(_ context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		args, err := loadaware.DecodeArgs(object)
		if err != nil {
			return nil, err
		}
		nodes := handle.SharedInformerFactory().Core().V1().Nodes()
		plugin := &Plugin{policy: loadaware.NewPolicy(args), state: shared, nodes: nodes.Lister(), now: now, seen: newObservations()}
		if _, err := nodes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: plugin.nodeGone}); err != nil {
			return nil, fmt.Errorf("watch nodes: %w", err)
		}
		return plugin, nil
	}
}

func (p *Plugin) nodeGone(object any) {
	if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
		p.seen.forget(name.Name)
	}
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// Policy in force in this profile.
func (p *Plugin) Policy() *loadaware.Policy { return p.policy }

// PreFilter estimates the pod and reads the clock, once for all nodes. Filter and Score do so themselves where it did not run.
func (p *Plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreFilter, pod, &status)
	c := p.begin(pod)
	c.remember(*p.seen.numbering.Load())
	state.Write(stateKey, c)
	return nil, nil
}

// PreFilterExtensions returns nil: what other pods are on a node comes from the state.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter refuses nodes that are too busy for the pod. The refusal does not depend on the requests of the node's pods,
// so evicting pods would not lift it and preemption is not tried.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodeInfo fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Filter, pod, &status)
	node := nodeInfo.Node()
	if node == nil {
		return fwk.NewStatus(fwk.Error, "node not found")
	}
	c, place := p.cycleOf(state, pod), p.seen.slotOf(node)
	in := p.input(c, place, node)
	verdict := loadaware.Filter(in, nil)
	if !verdict.Passed() {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, verdict.Reason())
	}
	if c.numbers(place) {
		c.scores[place.number] = uint8(loadaware.Score(in)) + 1 // while the node's load is at hand
	}
	return nil
}

// Score prefers idle nodes.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodeInfo fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Score, pod, &status)
	node := nodeInfo.Node()
	if node == nil {
		return 0, fwk.NewStatus(fwk.Error, "node not found")
	}
	c, place := p.cycleOf(state, pod), p.seen.slotOf(node)
	if score, kept := c.keptScore(place); kept {
		return score, nil
	}
	return loadaware.Score(p.input(c, place, node)), nil
}

// ScoreExtensions returns nil: scores are absolute, so that an idle node counts the same among busy and idle ones.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return nil }

// Reserve counts the pod on its node from now on, before its usage can be measured. A reserve pod uses nothing: the pods that
// come to use the reservation are counted.
func (p *Plugin) Reserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, nodeName string) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Reserve, pod, &status)
	if !reservation.IsReservePod(pod) {
		p.state.Reserve(pod, nodeName, p.now())
	}
	return nil
}

// Unreserve takes back Reserve.
func (p *Plugin) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, nodeName string) {
	defer recovery.Ignore(Name, recovery.Unreserve, pod)
	p.state.Unreserve(pod, nodeName)
}

// Explain repeats Filter with a trace.
func (p *Plugin) Explain(pod *corev1.Pod, node *corev1.Node) (loadaware.Verdict, *loadaware.Trace) {
	in := p.input(p.begin(pod), p.seen.slotOf(node), node)
	trace := &loadaware.Trace{}
	return loadaware.Filter(in, trace), trace
}

// Observed returns the digest that Filter uses for the node.
func (p *Plugin) Observed(node *corev1.Node) *loadaware.Node { return p.observe(node) }

// Estimate of a pod's usage.
func (p *Plugin) Estimate(pod *corev1.Pod) loadaware.Estimate {
	if signed := p.signed.Load(); signed != nil && signed.pod == pod {
		return signed.estimate
	}
	return p.policy.Estimate(pod)
}
