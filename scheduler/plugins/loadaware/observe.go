package loadaware

import (
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/state"
)

// observations keeps the digest of each node for as long as the objects it was made from stay the same. Objects are
// compared by address: informers replace them, and never change them. It is asked twice for every node and pod, so nodes are
// found by address, too, in a map that is replaced and never changed; nodes that came lately are in a second, small one.
type observations struct {
	settled atomic.Pointer[table]

	mutex sync.RWMutex
	fresh map[*corev1.Node]*slot
	// latest object of each node; others are dropped when the maps are merged.
	latest map[string]*corev1.Node
	// numbering of the slots; numbers of dropped ones are not given again before the next generation.
	numbering atomic.Pointer[numbering]
}

// numbering numbers slots from 0. It is replaced and never changed.
type numbering struct{ generation, next int }

// slot holds what is known of one node object.
type slot struct {
	// number finds the node in a table that is made for one generation of slots.
	number, generation int
	// observation is the latest.
	observation atomic.Pointer[observation]
}

// slotOf returns the place of a node object.
func (o *observations) slotOf(node *corev1.Node) *slot {
	if found := o.settled.Load().entryOf(node).slot; found != nil {
		return found
	}
	o.mutex.RLock()
	found := o.fresh[node]
	o.mutex.RUnlock()
	if found != nil {
		return found
	}
	return o.add(node)
}

func (o *observations) add(node *corev1.Node) *slot {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if found := o.fresh[node]; found != nil {
		return found
	}
	added := o.numbered()
	o.fresh[node], o.latest[node.Name] = added, node
	if len(o.fresh) > max(16, len(o.latest)/8) {
		o.merge()
		return o.settled.Load().entryOf(node).slot // a new generation has it in another slot
	}
	return added
}

// numbered returns a new slot. It expects the lock to be held.
func (o *observations) numbered() *slot {
	now := *o.numbering.Load()
	o.numbering.Store(&numbering{now.generation, now.next + 1})
	return &slot{number: now.next, generation: now.generation}
}

// merge expects the lock to be held. Each node object is copied a few times in its life, however many there are.
func (o *observations) merge() {
	merged := make(map[*corev1.Node]*slot, len(o.latest))
	keep := func(node *corev1.Node, kept *slot) {
		if o.latest[node.Name] == node {
			merged[node] = kept
		}
	}
	for _, settled := range o.settled.Load().entries {
		if settled.node != nil {
			keep(settled.node, settled.slot)
		}
	}
	for node, kept := range o.fresh {
		keep(node, kept)
	}
	if o.numbering.Load().next > 2*len(merged)+64 {
		merged = o.renumber(merged)
	}
	o.settled.Store(newTable(merged))
	o.fresh = map[*corev1.Node]*slot{}
}

// renumber begins a generation, with the slots of a map first. Slots are replaced, because others may read them. It expects the lock
// to be held.
func (o *observations) renumber(slots map[*corev1.Node]*slot) map[*corev1.Node]*slot {
	o.numbering.Store(&numbering{generation: o.numbering.Load().generation + 1})
	renumbered := make(map[*corev1.Node]*slot, len(slots))
	for node, kept := range slots {
		moved := o.numbered()
		moved.observation.Store(kept.observation.Load())
		renumbered[node] = moved
	}
	return renumbered
}

// forget drops a node that left the cluster.
func (o *observations) forget(name string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.latest, name)
	o.merge()
}

type observation struct {
	node    *corev1.Node
	metric  *slov1alpha1.NodeMetric
	version uint64
	digest  *loadaware.Node
	// stamp moves when the metric or the version does, nil where that is not followed; stamped is where it stood before the
	// two were read.
	stamp   *atomic.Uint64
	stamped uint64
}

// same is true when both were made from the same objects.
func (o *observation) same(other *observation) bool {
	return o.node == other.node && o.metric == other.metric && o.version == other.version
}

// current is true when nothing but the node object can have changed since.
func (o *observation) current() bool { return o.stamp != nil && o.stamp.Load() == o.stamped }

func newObservations() *observations {
	o := &observations{fresh: map[*corev1.Node]*slot{}, latest: map[string]*corev1.Node{}}
	o.settled.Store(newTable(nil))
	o.numbering.Store(&numbering{})
	return o
}

// observe digests the node as it is now. Of nodes that did not change it returns the digest made before.
func (p *Plugin) observe(node *corev1.Node) *loadaware.Node {
	return p.observeAt(p.seen.slotOf(node), node)
}

func (p *Plugin) observeAt(place *slot, node *corev1.Node) *loadaware.Node {
	kept := place.observation.Load()
	if kept != nil && kept.current() {
		return kept.digest
	}
	stamp, stamped := p.state.Stamp(node.Name), uint64(0)
	if stamp != nil {
		stamped = stamp.Load() // before the two are read
	}
	metric, assigned := p.state.NodeMetric(node.Name), p.state.Assigned(node.Name)
	var digest *loadaware.Node
	if kept != nil && kept.metric == metric && kept.version == assigned.Version {
		if stamp == nil {
			return kept.digest
		}
		digest = kept.digest
	} else {
		digest = p.policy.Observe(loadaware.NodeInput{Node: node, Metric: metric, Assigned: assigned.Pods})
	}
	place.observation.Store(&observation{node: node, metric: metric, version: assigned.Version, digest: digest, stamp: stamp, stamped: stamped})
	return digest
}

// hypotheses keeps the latest digests of nodes as they were or will be. One event asks the same question for every
// pending pod, so very few are enough. Questions come from the scheduler's event handlers, one at a time for each kind
// of object.
type hypotheses struct {
	mutex  sync.Mutex
	latest [4]hypothesis
	next   int
}

// hypothesis is a node as it was or will be: with the NodeMetric and the assigned pods of the moment, but for one pod.
type hypothesis struct {
	observation
	change change
}

// change says how the assigned pods of a node differ from those of the moment. The zero value changes nothing.
type change struct {
	// pod that is left out.
	pod types.UID
	// with takes its place; nil when nothing does.
	with *corev1.Pod
}

// suppose digests the node with another NodeMetric, or another version of one of its pods.
func (p *Plugin) suppose(node *corev1.Node, metric *slov1alpha1.NodeMetric, assigned state.Assigned, change change) *loadaware.Node {
	want := hypothesis{observation{node: node, metric: metric, version: assigned.Version}, change}
	p.supposed.mutex.Lock()
	defer p.supposed.mutex.Unlock()
	for i := range p.supposed.latest {
		if kept := &p.supposed.latest[i]; kept.digest != nil && kept.same(&want.observation) && kept.change == change {
			return kept.digest
		}
	}
	want.digest = p.policy.Observe(loadaware.NodeInput{Node: node, Metric: metric, Assigned: p.changed(assigned.Pods, change)})
	p.supposed.latest[p.supposed.next] = want
	p.supposed.next = (p.supposed.next + 1) % len(p.supposed.latest)
	return want.digest
}

// changed applies a change to a copy of the pods. A pod that is put in place of itself keeps the time at which it was
// assigned.
func (p *Plugin) changed(pods []loadaware.AssignedPod, change change) []loadaware.AssignedPod {
	if change.pod == "" {
		return pods
	}
	list := make([]loadaware.AssignedPod, 0, len(pods)+1)
	at := state.ScheduledAt(change.with)
	for _, assigned := range pods {
		if assigned.Pod.UID == change.pod {
			at = assigned.AssignedAt
			continue
		}
		list = append(list, assigned)
	}
	if change.with != nil {
		list = append(list, loadaware.AssignedPod{Pod: change.with, AssignedAt: at})
	}
	return list
}
