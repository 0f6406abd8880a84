package devices

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/allocation"
	"koordinator.sh/koord/scheduler/informer"
)

// Resource is what is watched.
var Resource = schema.GroupVersionResource{Group: schedulingv1alpha1.GroupVersion.Group, Version: schedulingv1alpha1.GroupVersion.Version, Resource: "devices"}

var kind = informer.Kind{
	Resource: Resource, Object: &schedulingv1alpha1.Device{}, Register: schedulingv1alpha1.AddToScheme,
	Absent: "Nodes count as without devices that could be allocated until it is",
}

// State of one scheduler. It is safe for concurrent use.
type State struct {
	informer    *informer.Informer
	allocations *allocation.Cache[*device.Node, device.Allocation, *device.Ledger]
	// decoded holds, by node name, the latest Device.
	decoded   sync.Map
	count     atomic.Int64
	templates templateSources
}

// decoding is a Device with what it says.
type decoding struct {
	object *schedulingv1alpha1.Device
	node   *device.Node
}

// New creates the state of a scheduler from the cluster that config reaches. Pods and nodes come from the scheduler's own
// informers. Nothing is watched before Run.
func New(config *rest.Config, pods, nodes cache.SharedIndexInformer) (*State, error) {
	watched, err := informer.New(config, kind)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(rest.CopyConfig(config), "scheduler-devices"))
	if err != nil {
		return nil, fmt.Errorf("create a client for shared-resource templates: %w", err)
	}
	return newState(watched, client, pods, nodes)
}

// NewFrom is New with Devices from another source.
func NewFrom(source cache.ListerWatcher, client kubernetes.Interface, pods, nodes cache.SharedIndexInformer) (*State, error) {
	watched, err := informer.NewFrom(source, kind)
	if err != nil {
		return nil, err
	}
	return newState(watched, client, pods, nodes)
}

func newState(watched *informer.Informer, client kubernetes.Interface, pods, nodes cache.SharedIndexInformer) (*State, error) {
	s := &State{informer: watched, templates: templateSources{client: client}}
	s.allocations = allocation.NewCache(allocation.Rules[*device.Node, device.Allocation, *device.Ledger]{Read: device.HeldBy, Build: build})
	devices := cache.ResourceEventHandlerFuncs{
		AddFunc: s.observe, UpdateFunc: func(_, object any) { s.observe(object) }, DeleteFunc: s.forget,
	}
	for _, watch := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{{watched, devices}, {pods, s.allocations.PodHandler()}, {nodes, s.allocations.NodeHandler()}} {
		if _, err := watch.informer.AddEventHandler(watch.handler); err != nil {
			return nil, fmt.Errorf("watch devices: %w", err)
		}
	}
	return s, nil
}

func build(node *corev1.Node, offer *device.Node, held []allocation.Holding[device.Allocation]) *device.Ledger {
	pods := make([]device.Held, len(held))
	for i := range held {
		pods[i] = device.Held{Pod: held[i].Pod, Allocation: held[i].Allocation}
	}
	return device.NewLedger(offer, node.Labels, pods)
}

// Run watches Devices, and templates, until the context ends. The absence of Devices is not an error: they are looked for
// again.
func (s *State) Run(ctx context.Context) {
	s.templates.start(ctx)
	defer s.templates.stop()
	s.informer.RunWithContext(ctx)
}

// Informer of Devices.
func (s *State) Informer() *informer.Informer { return s.informer }

// Settled is true once all Devices are known, or the cluster is known not to serve them.
func (s *State) Settled() bool { return s.informer.Settled() }

// Any is true when some node has a Device.
func (s *State) Any() bool { return s.count.Load() > 0 }

func (s *State) observe(object any) {
	written, ok := object.(*schedulingv1alpha1.Device)
	if !ok {
		return
	}
	made := &decoding{object: written, node: device.DecodeNode(written)}
	if problems := made.node.Problems(); len(problems) > 0 {
		klog.Background().Info("A part of a Device cannot be used", "device", written.Name, "problems", problems)
	}
	if _, known := s.decoded.Swap(written.Name, made); !known {
		s.count.Add(1)
	}
}

func (s *State) forget(object any) {
	name, err := cache.DeletionHandlingObjectToName(object)
	if err != nil {
		return
	}
	if _, known := s.decoded.LoadAndDelete(name.Name); known {
		s.count.Add(-1)
	}
}

// ReservePodHandler takes over what the pods that stand for reservations still hold, which shrinks while they are used.
func (s *State) ReservePodHandler() cache.ResourceEventHandler {
	return s.allocations.ReservePodHandler()
}

// Node returns what the Device of a node offers, nil when the node has none.
func (s *State) Node(name string) *device.Node {
	found, _ := s.decoded.Load(name)
	if made, ok := found.(*decoding); ok {
		return made.node
	}
	return nil
}

// Decode returns what a Device offers; it is not decoded again when it is the latest one of its node.
func (s *State) Decode(object *schedulingv1alpha1.Device) *device.Node {
	found, _ := s.decoded.Load(object.Name)
	if made, ok := found.(*decoding); ok && made.object == object {
		return made.node
	}
	return device.DecodeNode(object)
}

// Ledger returns what is left of the devices of a node as the NodeInfo shows it, nil when the node has no Device.
func (s *State) Ledger(info fwk.NodeInfo) *device.Ledger {
	node := s.Node(info.Node().Name)
	if node == nil {
		return nil
	}
	return s.allocations.Of(info, node)
}

// Reserve remembers what a pod was given on a node.
func (s *State) Reserve(node string, pod *corev1.Pod, allocation device.Allocation) {
	s.allocations.Reserve(node, pod, allocation)
}

// Unreserve takes back Reserve.
func (s *State) Unreserve(pod types.UID) { s.allocations.Unreserve(pod) }

// Holds returns what a pod holds: what it was given by this scheduler, or what its annotations say.
func (s *State) Holds(pod *corev1.Pod) (device.Allocation, bool) {
	if allocation, found := s.allocations.Reserved(pod.UID); found {
		return allocation, true
	}
	return device.HeldBy(pod)
}
