package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"koordinator.sh/koord/agent/connection"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// State follows the objects of one node. All methods may be called at the same time; what they return must not be changed.
type State struct {
	name                                 string
	clients                              *connection.Clients
	nodes, pods, slos, metrics, topology cache.SharedIndexInformer
	registrations                        []cache.InformerSynced

	mu sync.Mutex
	// list of pods, nil after one changed.
	list []*Pod
}

// New returns the state of a node. Nothing is known before Run.
func New(clients *connection.Clients, node string) (*State, error) {
	named := fields.OneTermEqualSelector("metadata.name", node).String()
	core := clients.Core.CoreV1().RESTClient()
	s := &State{
		name: node, clients: clients,
		nodes:    watching(core, "nodes", &corev1.Node{}, named),
		pods:     watching(core, "pods", &corev1.Pod{}, fields.OneTermEqualSelector("spec.nodeName", node).String()),
		slos:     watching(clients.SLO, connection.NodeSLOs.Resource, &slov1alpha1.NodeSLO{}, named),
		metrics:  watching(clients.SLO, connection.NodeMetrics.Resource, &slov1alpha1.NodeMetric{}, named),
		topology: watching(clients.Topology, connection.NodeTopologies.Resource, &topologyv1alpha1.NodeResourceTopology{}, named),
	}
	for _, informer := range []cache.SharedIndexInformer{s.nodes, s.pods, s.slos, s.metrics, s.topology} {
		if err := informer.SetTransform(slim); err != nil {
			return nil, fmt.Errorf("follow the node's objects: %w", err)
		}
	}
	changed := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { s.forget() }, UpdateFunc: func(_, _ any) { s.forget() }, DeleteFunc: func(any) { s.forget() },
	}
	registration, err := s.pods.AddEventHandler(changed)
	if err != nil {
		return nil, fmt.Errorf("follow pods: %w", err)
	}
	s.registrations = append(s.registrations, registration.HasSynced)
	return s, nil
}

func watching(client rest.Interface, resource string, example runtime.Object, selector string) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(connection.Follow(client, resource, selector), example, 0, cache.Indexers{})
}

// Run follows the objects until the context ends. An API server that is away, or does not serve a kind yet, is waited for.
func (s *State) Run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { s.nodes.RunWithContext(ctx) })
	group.Go(func() { s.pods.RunWithContext(ctx) })
	group.Go(func() {
		if s.clients.Await(ctx, connection.NodeTopologies) == nil {
			s.topology.RunWithContext(ctx)
		}
	})
	if s.clients.Await(ctx, connection.NodeSLOs) != nil {
		return
	}
	group.Go(func() { s.slos.RunWithContext(ctx) })
	group.Go(func() { s.metrics.RunWithContext(ctx) })
}

// Known is true once everything was read that was there in the beginning, but for the topology, which may come later.
func (s *State) Known() bool {
	return s.nodes.HasSynced() && s.slos.HasSynced() && s.metrics.HasSynced() &&
		!slices.ContainsFunc(s.registrations, func(synced cache.InformerSynced) bool { return !synced() })
}

// TopologyKnown is Known for the NodeResourceTopology; false while the API server does not serve the kind.
func (s *State) TopologyKnown() bool { return s.topology.HasSynced() }

func (s *State) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = nil
}

// Pods lists the pods that are bound to the node and have not ended, by namespace and name.
func (s *State) Pods() []*Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list != nil {
		return s.list
	}
	var pods []*corev1.Pod
	for _, object := range s.pods.GetStore().List() {
		pod, ok := object.(*corev1.Pod)
		if ok && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	s.list = PodsOf(pods)
	return s.list
}

// Objects are the pods that are bound to the node, those that have ended too, by the UIDs of their cgroups.
func (s *State) Objects() map[types.UID]*corev1.Pod {
	out := map[types.UID]*corev1.Pod{}
	for _, object := range s.pods.GetStore().List() {
		if pod, ok := object.(*corev1.Pod); ok {
			out[cgroupUID(pod)] = pod
		}
	}
	return out
}

// Node returns the Node; nil while it is not known.
func (s *State) Node() *corev1.Node { return find[*corev1.Node](s, s.nodes) }

// SLO returns the NodeSLO; nil while there is none, which means that nothing is wanted of the node.
func (s *State) SLO() *slov1alpha1.NodeSLO { return find[*slov1alpha1.NodeSLO](s, s.slos) }

// Metric returns the NodeMetric; nil while there is none to report to.
func (s *State) Metric() *slov1alpha1.NodeMetric { return find[*slov1alpha1.NodeMetric](s, s.metrics) }

// Topology returns the NodeResourceTopology; nil while there is none.
func (s *State) Topology() *topologyv1alpha1.NodeResourceTopology {
	return find[*topologyv1alpha1.NodeResourceTopology](s, s.topology)
}

func find[T any](s *State, informer cache.SharedIndexInformer) T {
	object, _, _ := informer.GetStore().GetByKey(s.name) // the store of an informer has no errors
	found, _ := object.(T)
	return found
}
