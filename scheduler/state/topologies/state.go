package topologies

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"

	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/allocation"
	"koordinator.sh/koord/scheduler/informer"
)

// Resource is what is watched.
var Resource = schema.GroupVersionResource{Group: topologyv1alpha1.GroupVersion.Group, Version: topologyv1alpha1.GroupVersion.Version, Resource: "noderesourcetopologies"}

var kind = informer.Kind{
	Resource: Resource, Object: &topologyv1alpha1.NodeResourceTopology{}, Register: topologyv1alpha1.AddToScheme,
	Absent: "No pod is bound to CPUs or aligned on NUMA zones until it is",
}

// State of one scheduler. It is safe for concurrent use.
type State struct {
	reports     *informer.Informer
	nodes       cache.SharedIndexInformer
	allocations *allocation.Cache[*numa.Node, numa.Allocation, *numa.Ledger]

	// observed holds, by node name, what a node offers as the informers show it.
	observed sync.Map
	// mutex orders the writers of observed.
	mutex     sync.Mutex
	demanding atomic.Int64
	changes   atomic.Uint64
}

// observation is one node, and what it was made from.
type observation struct {
	object *corev1.Node
	source *source
	node   *numa.Node
	// listed is true for nodes of the informer, which count as demanding.
	listed bool
}

// New creates the state of a scheduler from the cluster that config reaches. Pods and nodes come from the scheduler's own
// informers. Nothing is watched before Run.
func New(config *rest.Config, pods, nodes cache.SharedIndexInformer) (*State, error) {
	reports, err := informer.New(config, kind)
	if err != nil {
		return nil, err
	}
	return newState(reports, pods, nodes)
}

// NewFrom is New with NodeResourceTopologies from another source.
func NewFrom(source cache.ListerWatcher, pods, nodes cache.SharedIndexInformer) (*State, error) {
	reports, err := informer.NewFrom(source, kind)
	if err != nil {
		return nil, err
	}
	return newState(reports, pods, nodes)
}

func newState(reports *informer.Informer, pods, nodes cache.SharedIndexInformer) (*State, error) {
	s := &State{reports: reports, nodes: nodes, allocations: allocation.NewCache(allocation.Rules[*numa.Node, numa.Allocation, *numa.Ledger]{Read: numa.Justified, Build: build})}
	changed := cache.ResourceEventHandlerFuncs{
		AddFunc: s.changed, UpdateFunc: func(_, object any) { s.changed(object) }, DeleteFunc: s.changed,
	}
	for _, watch := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{{reports, changed}, {nodes, changed}, {nodes, s.allocations.NodeHandler()}, {pods, s.allocations.PodHandler()}} {
		if _, err := watch.informer.AddEventHandler(watch.handler); err != nil {
			return nil, fmt.Errorf("watch CPU topologies: %w", err)
		}
	}
	return s, nil
}

func build(_ *corev1.Node, offer *numa.Node, held []allocation.Holding[numa.Allocation]) *numa.Ledger {
	holders := make([]numa.Holder, len(held))
	for i := range held {
		holders[i] = numa.Holder{Namespace: held[i].Pod.Namespace, Name: held[i].Pod.Name, UID: held[i].Pod.UID, Allocation: held[i].Allocation}
	}
	return numa.NewLedger(offer, holders)
}

// Run watches NodeResourceTopologies until the context ends. Their absence is not an error: they are looked for again.
func (s *State) Run(ctx context.Context) { s.reports.RunWithContext(ctx) }

// Informer of NodeResourceTopologies.
func (s *State) Informer() *informer.Informer { return s.reports }

func (s *State) changed(object any) {
	if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
		s.Refresh(name.Name)
	}
}

// Refresh takes over what the informers show of a node. It is called for every change, and may be called by those who
// learn of a change first.
func (s *State) Refresh(name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found, _ := s.observed.Load(name)
	before, _ := found.(*observation)
	object, exists := informer.Get[*corev1.Node](s.nodes, name)
	if !exists {
		s.observed.Delete(name)
		s.replace(before, nil)
		return
	}
	after := s.observe(object, before)
	after.listed = true
	s.observed.Store(name, after)
	s.replace(before, after)
}

// replace counts the demanding nodes and the changes. It expects the lock to be held.
func (s *State) replace(before, after *observation) {
	counts := func(o *observation) bool { return o != nil && o.listed && o.node.Demanding() }
	if counts(before) {
		s.demanding.Add(-1)
	}
	if counts(after) {
		s.demanding.Add(1)
	}
	if before == nil || after == nil || before.node != after.node {
		s.changes.Add(1)
	}
}

// observe reads a node, unless all that counts is as before.
func (s *State) observe(object *corev1.Node, before *observation) *observation {
	reported, _ := informer.Get[*topologyv1alpha1.NodeResourceTopology](s.reports, object.Name)
	after := &observation{object: object, source: sourceOf(object, reported)}
	if before != nil && *before.source == *after.source {
		after.node = before.node
	} else {
		after.node = numa.Observe(object, reported)
	}
	return after
}

// Node returns what a node offers. The object may be another version than the one in the cluster; it is then evaluated again.
func (s *State) Node(object *corev1.Node) *numa.Node {
	found, _ := s.observed.Load(object.Name)
	known, _ := found.(*observation)
	if known != nil && known.object == object {
		return known.node
	}
	read := s.observe(object, known)
	switch {
	case known == nil:
		s.observed.LoadOrStore(object.Name, read)
	case known.node == read.node:
		read.listed = known.listed
		s.observed.CompareAndSwap(object.Name, known, read)
	}
	return read.node
}

// Report of a node, nil when there is none.
func (s *State) Report(node string) *topologyv1alpha1.NodeResourceTopology {
	reported, _ := informer.Get[*topologyv1alpha1.NodeResourceTopology](s.reports, node)
	return reported
}

// Ledger returns what is left of a node as the NodeInfo shows it.
func (s *State) Ledger(info fwk.NodeInfo) *numa.Ledger {
	return s.allocations.Of(info, s.Node(info.Node()))
}

// ReservePodHandler takes over what the pods that stand for reservations still hold, which shrinks while they are used.
func (s *State) ReservePodHandler() cache.ResourceEventHandler {
	return s.allocations.ReservePodHandler()
}

// Reserve remembers what a pod was given, until it is gone.
func (s *State) Reserve(node string, pod *corev1.Pod, allocation numa.Allocation) {
	s.allocations.Reserve(node, pod, allocation)
}

// Unreserve takes back Reserve.
func (s *State) Unreserve(pod types.UID) { s.allocations.Unreserve(pod) }

// Demanding is true when some node asks something of pods that ask nothing by themselves.
func (s *State) Demanding() bool { return s.demanding.Load() > 0 }

// Changes counts changes of what nodes offer; it never repeats.
func (s *State) Changes() uint64 { return s.changes.Load() }
