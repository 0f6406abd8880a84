package allocation

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
)

// Holding is what one pod holds of its node.
type Holding[A any] struct {
	Pod        *corev1.Pod
	Allocation A
}

// Rules say how a Book reads allocations and what it makes of them. Both functions must be pure and safe for concurrent
// use; S is what the node itself offers, and is compared by identity.
type Rules[S comparable, A, L any] struct {
	// Read returns what a pod holds by its own annotations; false when it holds nothing.
	Read func(pod *corev1.Pod) (A, bool)
	// Fold makes the ledger of a node from what it offers and what its pods hold, in the order of the NodeInfo.
	Fold func(node *corev1.Node, offer S, held []Holding[A]) L
}

// Book keeps the ledgers of all nodes. What Reserve gave to a pod the Book remembers itself: the pod's annotations say it
// only later, or not at all if the binding fails. It is safe for concurrent use.
type Book[S comparable, A, L any] struct {
	rules Rules[S, A, L]

	mutex    sync.RWMutex
	reserved map[types.UID]reservation[A]
	// versions counts, per node, the changes of reserved.
	versions map[string]uint64

	// digests holds the latest ledger of each node, by name.
	digests sync.Map
}

type reservation[A any] struct {
	node       string
	allocation A
}

// digest is a ledger with all that it was made from.
type digest[S comparable, A, L any] struct {
	generation int64
	version    uint64
	offer      S
	// read is what the annotations of the pods say.
	read   map[*corev1.Pod]A
	ledger L
}

// NewBook returns an empty Book.
func NewBook[S comparable, A, L any](rules Rules[S, A, L]) *Book[S, A, L] {
	return &Book[S, A, L]{rules: rules, reserved: map[types.UID]reservation[A]{}, versions: map[string]uint64{}}
}

// Of returns the ledger of a node as the NodeInfo shows it. The ledger is shared and must not be changed. It costs one
// comparison when nothing has changed since the last call for that node.
func (b *Book[S, A, L]) Of(info fwk.NodeInfo, offer S) L {
	name, generation := info.Node().Name, info.GetGeneration()
	version := b.version(name)
	last, _ := b.digests.Load(name)
	before, _ := last.(*digest[S, A, L])
	if before != nil && before.generation == generation && before.version == version && before.offer == offer {
		return before.ledger
	}
	made := b.digest(info, offer, before)
	made.generation, made.version = generation, version
	b.digests.Store(name, made)
	return made.ledger
}

func (b *Book[S, A, L]) version(node string) uint64 {
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	return b.versions[node]
}

// digest reads every pod of the node, except those that it read before: pods are replaced when they change.
func (b *Book[S, A, L]) digest(info fwk.NodeInfo, offer S, before *digest[S, A, L]) *digest[S, A, L] {
	pods := info.GetPods()
	made := &digest[S, A, L]{offer: offer, read: make(map[*corev1.Pod]A, len(pods))}
	held := make([]Holding[A], 0, len(pods))
	for _, podInfo := range pods {
		pod := podInfo.GetPod()
		if allocation, found := b.Reserved(pod.UID); found {
			held = append(held, Holding[A]{Pod: pod, Allocation: allocation})
		} else if allocation, found := b.read(pod, before); found {
			made.read[pod] = allocation
			held = append(held, Holding[A]{Pod: pod, Allocation: allocation})
		}
	}
	made.ledger = b.rules.Fold(info.Node(), offer, held)
	return made
}

func (b *Book[S, A, L]) read(pod *corev1.Pod, before *digest[S, A, L]) (A, bool) {
	if before != nil {
		if allocation, known := before.read[pod]; known {
			return allocation, true
		}
	}
	return b.rules.Read(pod)
}

// Reserve remembers what a pod was given on a node.
func (b *Book[S, A, L]) Reserve(node string, pod *corev1.Pod, allocation A) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.reserved[pod.UID] = reservation[A]{node: node, allocation: allocation}
	b.versions[node]++
}

// Reserved returns what Reserve gave to a pod, or what the pod said since it was bound.
func (b *Book[S, A, L]) Reserved(pod types.UID) (A, bool) {
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	found, ok := b.reserved[pod]
	return found.allocation, ok
}

// Unreserve takes back Reserve.
func (b *Book[S, A, L]) Unreserve(pod types.UID) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if found, ok := b.reserved[pod]; ok {
		delete(b.reserved, pod)
		b.versions[found.node]++
	}
}

// PodHandler takes over what bound pods say themselves, and forgets pods that are gone. A reservation is kept until then,
// because a snapshot of the scheduler may hold the pod as it was assumed, without its annotations, for some time yet.
func (b *Book[S, A, L]) PodHandler() cache.ResourceEventHandler { return b.handler(b.observe) }

// ReservePodHandler is PodHandler for the pods that stand for reservations. What they say is all that they hold: it shrinks to
// nothing while their users take it. Of another pod nobody but the scheduler may take away what it holds.
func (b *Book[S, A, L]) ReservePodHandler() cache.ResourceEventHandler {
	return b.handler(func(object any) {
		b.observe(object)
		if pod, ok := object.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
			if _, holds := b.rules.Read(pod); !holds {
				b.Unreserve(pod.UID)
			}
		}
	})
}

func (b *Book[S, A, L]) handler(observe func(any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: observe,
		UpdateFunc: func(before, object any) {
			b.replaced(before, object)
			observe(object)
		},
		DeleteFunc: func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			if pod, ok := object.(*corev1.Pod); ok {
				b.Unreserve(pod.UID)
			}
		},
	}
}

// replaced forgets a pod whose name another one has taken: after a broken watch, an informer reports that as an update.
func (b *Book[S, A, L]) replaced(before, after any) {
	old, okBefore := before.(*corev1.Pod)
	present, okAfter := after.(*corev1.Pod)
	if okBefore && okAfter && old.UID != present.UID {
		b.Unreserve(old.UID)
	}
}

func (b *Book[S, A, L]) observe(object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" {
		return
	}
	if _, reserved := b.Reserved(pod.UID); !reserved {
		return
	}
	if said, found := b.rules.Read(pod); found {
		b.Reserve(pod.Spec.NodeName, pod, said)
	}
}

// NodeHandler drops the ledgers of nodes that are gone.
func (b *Book[S, A, L]) NodeHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{DeleteFunc: func(object any) {
		if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
			b.digests.Delete(name.Name)
			b.mutex.Lock()
			defer b.mutex.Unlock()
			delete(b.versions, name.Name)
		}
	}}
}
