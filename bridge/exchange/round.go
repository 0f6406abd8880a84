package exchange

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/bridge/engine"
	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

// Round looks at both sides once and tells each what follows. It returns when the next round is due although nothing changes; zero where
// none is. Kubernetes is told first: what the engine gets must be taken from pods before.
func (x *Exchange) Round(ctx context.Context) (next time.Time, err error) {
	state, err := x.engine.Observe(ctx)
	x.observed(ctx, err)
	if err != nil {
		return next, fmt.Errorf("observe %s: %w", x.engine.Name(), err)
	}
	var nodes corev1.NodeList
	if err := x.client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return next, fmt.Errorf("list nodes: %w", err)
	}
	r := &round{Exchange: x, args: x.settings.Args, state: state, now: x.clock.Now(), seen: map[string]bool{}}
	r.args.Grain, r.args.Paired = state.Grain, state.Paired
	for i := range nodes.Items {
		r.look(&nodes.Items[i])
	}
	r.claim()
	for i := range r.nodes {
		r.decide(ctx, &r.nodes[i])
	}
	r.forget()
	r.tellKubernetes(ctx)
	r.errs = append(r.errs, r.send(ctx), r.kill(ctx))
	return r.next, errors.Join(r.errs...)
}

// round is one round.
type round struct {
	*Exchange
	args  thirdparty.Args
	state engine.State
	now   time.Time
	nodes []shared
	seen  map[string]bool
	// publications are what Kubernetes is to be told.
	publications []publication
	changes      []engine.Change
	excesses     []excess
	// sent are the nodes whose capacity is in changes.
	sent []*remembered
	next time.Time
	errs []error
}

// shared is a node that the engine uses.
type shared struct {
	*corev1.Node
	kept *remembered
	key  string
	// own is the node as the engine sees it.
	own engine.Node
	// taken is what Kubernetes counts as taken by the engine, and superfluous the part of it that other agents may use.
	taken, superfluous engine.Amount
	in                 thirdparty.Input
}

// look takes a node down, if the engine uses it. Nodes without an agent any more are given back to pods. Those with an agent that the engine
// does not know, as after its restart until agents register again, stay as they are: containers may still run there.
func (r *round) look(node *corev1.Node) {
	held, agents := r.holdings.Of(node.Name)
	named := r.engine.Keys(node, agents)
	keys := r.known(named)
	taken, others, err := r.allocations(node)
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("node %q: %w [%s]", node.Name, err, finding.AllocationsInvalid))
		return
	}
	if len(named) == 0 {
		r.tell(node, taken, engine.Amount{})
		return
	}
	r.seen[node.Name] = true
	if len(keys) == 0 {
		return
	}
	kept := r.remembered[node.Name]
	if kept == nil {
		kept = &remembered{}
		r.remembered[node.Name] = kept
	}
	s := shared{Node: node, kept: kept, key: keys[0], own: r.state.Nodes[keys[0]], taken: taken}
	s.superfluous = r.closeOthers(node, kept, keys[1:])
	s.in = thirdparty.Input{
		Origin: origin(node), Offered: offered(node), Pods: held, Others: others.Add(s.superfluous), Taken: less(taken, s.superfluous),
		Capacity: s.own.Capacity, Allocated: s.own.Allocated, Most: s.own.Most, EngineWaits: r.state.Waits, Stopped: s.own.Closed || node.Spec.Unschedulable, Now: r.now,
	}
	r.nodes = append(r.nodes, s)
}

// mostWaiting bounds the pods that nodes are claimed for in one round.
const mostWaiting = 256

// claim claims nodes for pods that wait.
func (r *round) claim() {
	candidates := make([]thirdparty.Candidate, len(r.nodes))
	for i := range r.nodes {
		if in := &r.nodes[i].in; !r.nodes[i].Spec.Unschedulable {
			candidates[i] = thirdparty.Candidate{
				Free:    less(less(less(in.Origin, in.Others), in.Pods), in.Allocated),
				ForPods: less(in.Offered, in.Pods),
			}
		}
	}
	for i := range thirdparty.Claims(candidates, r.holdings.Waiting(mostWaiting), r.state.Waits, r.args.SharePercent) {
		r.nodes[i].in.Claimed = true
	}
}

// decide decides for one node.
func (r *round) decide(ctx context.Context, s *shared) {
	verdict := thirdparty.Decide(s.in, r.args, s.kept.memory, nil)
	s.kept.memory = verdict.Memory
	r.tell(s.Node, s.taken, verdict.Taken.Add(s.superfluous))
	if verdict.Send {
		r.changes = append(r.changes, engine.Change{Key: s.key, Capacity: verdict.Capacity, Deadline: r.settings.Deadline})
		r.sent = append(r.sent, s.kept)
	}
	if !verdict.Next.IsZero() && (r.next.IsZero() || verdict.Next.Before(r.next)) {
		r.next = verdict.Next
	}
	r.overdue(s, verdict)
	r.report(ctx, s.Node, s.kept, s.own, verdict)
	r.reportRemaining(s, verdict)
}

// publication is what the engine takes of a node.
type publication struct {
	node  *corev1.Node
	taken engine.Amount
}

// writers is how many nodes are written at the same time.
const writers = 16

// tell takes down that Kubernetes is to be told, where the node says something else.
func (r *round) tell(node *corev1.Node, before, taken engine.Amount) {
	if taken != before {
		r.publications = append(r.publications, publication{node, taken})
	}
}

// tellKubernetes writes what the engine takes.
func (r *round) tellKubernetes(ctx context.Context) {
	errs := make([]error, len(r.publications))
	var group errgroup.Group
	group.SetLimit(writers)
	for i, p := range r.publications {
		group.Go(func() error {
			errs[i] = r.publish(ctx, p.node, p.taken)
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs, all of them
	r.errs = append(r.errs, errs...)
}

// known are the keys that the engine knows.
func (r *round) known(keys []string) []string {
	var out []string
	for _, key := range keys {
		if _, exists := r.state.Nodes[key]; exists {
			out = append(out, key)
		}
	}
	return out
}

// closeOthers takes the capacity from agents beyond the first of a node: two that share it would each be given all of it. It returns what
// they may still use.
func (r *round) closeOthers(node *corev1.Node, kept *remembered, keys []string) (using engine.Amount) {
	for _, key := range keys {
		other := r.state.Nodes[key]
		using = using.Add(larger(other.Capacity, other.Allocated))
		if other.Capacity != (engine.Amount{}) {
			r.changes = append(r.changes, engine.Change{Key: key, Deadline: r.settings.Deadline})
		}
	}
	r.reportDoubled(node, kept, keys)
	return using
}

// send tells the engine. Nodes whose capacity may not have arrived are told again.
func (r *round) send(ctx context.Context) error {
	if len(r.changes) == 0 {
		return nil
	}
	err := r.engine.SetCapacity(ctx, r.changes)
	countChanges(r.engine, len(r.changes), err)
	if err != nil {
		for _, kept := range r.sent {
			kept.memory.Failed = true
		}
		return fmt.Errorf("change the capacity of %d nodes: %w", len(r.changes), err)
	}
	klog.FromContext(ctx).V(4).Info("Changed the capacity of nodes", "nodes", len(r.changes))
	return nil
}

// forget drops what was remembered of nodes that are gone, or that the engine does not use any more.
func (r *round) forget() {
	for name := range r.remembered {
		if !r.seen[name] {
			delete(r.remembered, name)
			forgetMetrics(r.engine, name)
		}
	}
}

// offered is what a node offers to pods.
func offered(node *corev1.Node) engine.Amount { return batchOf(node.Status.Allocatable) }

// origin is what a node has in batch before other schedulers take their part: nobody has taken any where that is not published.
func origin(node *corev1.Node) engine.Amount {
	published, err := extension.GetOriginExtendedAllocatable(node.Annotations)
	if err != nil || published == nil {
		return offered(node)
	}
	return batchOf(published.Resources)
}

func batchOf(list corev1.ResourceList) engine.Amount {
	cpu, memory := list[extension.BatchCPU], list[extension.BatchMemory]
	return engine.Amount{MilliCPU: max(cpu.Value(), 0), Memory: max(memory.Value(), 0)}
}

func larger(a, b engine.Amount) engine.Amount {
	return engine.Amount{MilliCPU: max(a.MilliCPU, b.MilliCPU), Memory: max(a.Memory, b.Memory)}
}

func less(a, b engine.Amount) engine.Amount {
	return engine.Amount{MilliCPU: max(a.MilliCPU-b.MilliCPU, 0), Memory: max(a.Memory-b.Memory, 0)}
}
