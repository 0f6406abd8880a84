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

// Rules say how a Cache reads allocations and what it makes of them. Both functions must be pure and safe for concurrent
// use; S is what the node itself offers, and is compared by identity.
type Rules[S comparable, A, L any] struct {
	// Read returns what a pod holds by its own annotations; false when it holds nothing.
	Read func(pod *corev1.Pod) (A, bool)
	// Build makes the ledger of a node from what it offers and what its pods hold, in the order of the NodeInfo.
	Build func(node *corev1.Node, offer S, held []Holding[A]) L
}

// Cache keeps the ledgers of all nodes. What Reserve gave to a pod the Cache remembers itself: the pod's annotations say it
// only later, or not at all if the binding fails. It is safe for concurrent use.
type Cache[S comparable, A, L any] struct {
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

// NewCache returns an empty Cache.
func NewCache[S comparable, A, L any](rules Rules[S, A, L]) *Cache[S, A, L] {
	return &Cache[S, A, L]{rules: rules, reserved: map[types.UID]reservation[A]{}, versions: map[string]uint64{}}
}

// Of returns the ledger of a node as the NodeInfo shows it. The ledger is shared and must not be changed. It costs one
// comparison when nothing has changed since the last call for that node.
func (c *Cache[S, A, L]) Of(info fwk.NodeInfo, offer S) L {
	name, generation := info.Node().Name, info.GetGeneration()
	version := c.version(name)
	last, _ := c.digests.Load(name)
	before, _ := last.(*digest[S, A, L])
	if before != nil && before.generation == generation && before.version == version && before.offer == offer {
		return before.ledger
	}
	made := c.digest(info, offer, before)
	made.generation, made.version = generation, version
	c.digests.Store(name, made)
	return made.ledger
}

func (c *Cache[S, A, L]) version(node string) uint64 {
	c.mutex.RLock()
	defer c.mutex.RUnlock()
	return c.versions[node]
}

// digest reads every pod of the node, except those that it read before: pods are replaced when they change.
func (c *Cache[S, A, L]) digest(info fwk.NodeInfo, offer S, before *digest[S, A, L]) *digest[S, A, L] {
	pods := info.GetPods()
	made := &digest[S, A, L]{offer: offer, read: make(map[*corev1.Pod]A, len(pods))}
	held := make([]Holding[A], 0, len(pods))
	for _, podInfo := range pods {
		pod := podInfo.GetPod()
		if allocation, found := c.Reserved(pod.UID); found {
			held = append(held, Holding[A]{Pod: pod, Allocation: allocation})
		} else if allocation, found := c.read(pod, before); found {
			made.read[pod] = allocation
			held = append(held, Holding[A]{Pod: pod, Allocation: allocation})
		}
	}
	made.ledger = c.rules.Build(info.Node(), offer, held)
	return made
}

func (c *Cache[S, A, L]) read(pod *corev1.Pod, before *digest[S, A, L]) (A, bool) {
	if before != nil {
		if allocation, known := before.read[pod]; known {
			return allocation, true
		}
	}
	return c.rules.Read(pod)
}

// Reserve remembers what a pod was given on a node.
func (c *Cache[S, A, L]) Reserve(node string, pod *corev1.Pod, allocation A) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.reserved[pod.UID] = reservation[A]{node: node, allocation: allocation}
	c.versions[node]++
}

// Reserved returns what Reserve gave to a pod, or what the pod said since it was bound.
func (c *Cache[S, A, L]) Reserved(pod types.UID) (A, bool) {
	c.mutex.RLock()
	defer c.mutex.RUnlock()
	found, ok := c.reserved[pod]
	return found.allocation, ok
}

// Unreserve takes back Reserve.
func (c *Cache[S, A, L]) Unreserve(pod types.UID) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if found, ok := c.reserved[pod]; ok {
		delete(c.reserved, pod)
		c.versions[found.node]++
	}
}

// PodHandler takes over what bound pods say themselves, and forgets pods that are gone. A reservation is kept until then,
// because a snapshot of the scheduler may hold the pod as it was assumed, without its annotations, for some time yet.
func (c *Cache[S, A, L]) PodHandler() cache.ResourceEventHandler { return c.handler(c.observe) }

// ReservePodHandler is PodHandler for reserve pods. A reserve pod holds exactly what its annotations say, which shrinks to nothing
// as users take it. The allocation of any other pod must be withdrawn by the scheduler only.
func (c *Cache[S, A, L]) ReservePodHandler() cache.ResourceEventHandler {
	return c.handler(func(object any) {
		c.observe(object)
		if pod, ok := object.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
			if _, holds := c.rules.Read(pod); !holds {
				c.Unreserve(pod.UID)
			}
		}
	})
}

func (c *Cache[S, A, L]) handler(observe func(any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: observe,
		UpdateFunc: func(before, object any) {
			c.replaced(before, object)
			observe(object)
		},
		DeleteFunc: func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			if pod, ok := object.(*corev1.Pod); ok {
				c.Unreserve(pod.UID)
			}
		},
	}
}

// replaced forgets a pod whose name another one has taken: after a broken watch, an informer reports that as an update.
func (c *Cache[S, A, L]) replaced(before, after any) {
	old, okBefore := before.(*corev1.Pod)
	present, okAfter := after.(*corev1.Pod)
	if okBefore && okAfter && old.UID != present.UID {
		c.Unreserve(old.UID)
	}
}

func (c *Cache[S, A, L]) observe(object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" {
		return
	}
	if _, reserved := c.Reserved(pod.UID); !reserved {
		return
	}
	if said, found := c.rules.Read(pod); found {
		c.Reserve(pod.Spec.NodeName, pod, said)
	}
}

// NodeHandler drops the ledgers of nodes that are gone.
func (c *Cache[S, A, L]) NodeHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{DeleteFunc: func(object any) {
		if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
			c.digests.Delete(name.Name)
			c.mutex.Lock()
			defer c.mutex.Unlock()
			delete(c.versions, name.Name)
		}
	}}
}
