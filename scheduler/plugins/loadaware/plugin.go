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
	// last remembers the estimate of the pod that is being scheduled, so that it is made once, not once per node.
	last atomic.Pointer[estimated]
	// cycles counts the calls of PreFilter.
	cycles atomic.Uint64
	// epoch dates what signatures are valid for.
	epoch epoch
}

type estimated struct {
	pod      *corev1.Pod
	estimate loadaware.Estimate
	// at is when the cycle began, zero when no cycle has.
	at time.Time
	// cycle is the number of the cycle, which is never zero.
	cycle uint64
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
		args, err := decode(object)
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

// decode reads the plugin's arguments as the scheduler hands them over.
func decode(object runtime.Object) (*loadaware.Args, error) {
	switch typed := object.(type) {
	case nil:
		return loadaware.DefaultArgs(), nil
	case *runtime.Unknown:
		if typed.ContentType != "" && typed.ContentType != runtime.ContentTypeJSON {
			return nil, fmt.Errorf("decode %s: content type %q is not JSON", loadaware.Kind, typed.ContentType)
		}
		return loadaware.DecodeArgs(typed.Raw)
	}
	return nil, fmt.Errorf("decode %s: unexpected type %T", loadaware.Kind, object)
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// Policy in force in this profile.
func (p *Plugin) Policy() *loadaware.Policy { return p.policy }

// PreFilter estimates the pod and reads the clock, once for all nodes. Filter and Score do not depend on it.
func (p *Plugin) PreFilter(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreFilter, pod, &status)
	p.last.Store(&estimated{pod: pod, estimate: p.Estimate(pod), at: p.now(), cycle: p.cycles.Add(1)})
	return nil, nil
}

// PreFilterExtensions returns nil: what other pods are on a node comes from the state.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter refuses nodes that are too busy for the pod. The refusal does not depend on the requests of the node's pods,
// so evicting pods would not lift it and preemption is not tried.
func (p *Plugin) Filter(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, nodeInfo fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Filter, pod, &status)
	node := nodeInfo.Node()
	if node == nil {
		return fwk.NewStatus(fwk.Error, "node not found")
	}
	place, last := p.seen.slotOf(node), p.last.Load()
	in := p.input(pod, node, place, last)
	verdict := loadaware.Filter(in, nil)
	if !verdict.Passed() {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, verdict.Reason())
	}
	if last.began(pod) {
		place.keepScore(last.cycle, loadaware.Score(in)) // while the node's load is at hand
	}
	return nil
}

// Score prefers idle nodes.
func (p *Plugin) Score(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, nodeInfo fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Score, pod, &status)
	node := nodeInfo.Node()
	if node == nil {
		return 0, fwk.NewStatus(fwk.Error, "node not found")
	}
	place, last := p.seen.slotOf(node), p.last.Load()
	if last.began(pod) {
		if score, kept := place.keptScore(last.cycle); kept {
			return score, nil
		}
	}
	return loadaware.Score(p.input(pod, node, place, last)), nil
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
	in := p.input(pod, node, p.seen.slotOf(node), p.last.Load())
	trace := &loadaware.Trace{}
	return loadaware.Filter(in, trace), trace
}

// Observed returns the digest that Filter uses for the node.
func (p *Plugin) Observed(node *corev1.Node) *loadaware.Node { return p.observe(node) }

// Estimate of a pod's usage.
func (p *Plugin) Estimate(pod *corev1.Pod) loadaware.Estimate {
	if last := p.last.Load(); last != nil && last.pod == pod {
		return last.estimate
	}
	estimate := p.policy.Estimate(pod)
	p.last.Store(&estimated{pod: pod, estimate: estimate})
	return estimate
}

// began is true when PreFilter has begun a cycle for the pod, and none for another pod since.
func (e *estimated) began(pod *corev1.Pod) bool { return e != nil && e.pod == pod && e.cycle != 0 }

func (p *Plugin) input(pod *corev1.Pod, node *corev1.Node, place *slot, last *estimated) loadaware.Input {
	digest := p.observeAt(place, node)
	if last.began(pod) {
		return loadaware.Input{Policy: p.policy, Node: digest, Pod: last.estimate, Now: last.at}
	}
	return loadaware.Input{Policy: p.policy, Node: digest, Pod: p.Estimate(pod), Now: p.now()}
}
