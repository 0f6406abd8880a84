package loadaware

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/loadaware"
	"koordinator.sh/koord/scheduler/state"
)

// observations keeps the digest of each node for as long as the objects it was made from stay the same. Objects are
// compared by address: informers replace them, and never change them.
type observations struct {
	mutex sync.RWMutex
	nodes map[string]observation
}

type observation struct {
	node    *corev1.Node
	metric  *slov1alpha1.NodeMetric
	version uint64
	// without is the pod left out of the assigned ones, for questions about the time after it is gone.
	without types.UID
	digest  *loadaware.Node
}

// same is true when both were made from the same objects.
func (o *observation) same(other *observation) bool {
	return o.node == other.node && o.metric == other.metric && o.version == other.version && o.without == other.without
}

func (o *observation) current(now time.Time) bool {
	until := o.digest.ValidUntil()
	return until.IsZero() || now.Before(until)
}

func newObservations() *observations { return &observations{nodes: map[string]observation{}} }

// observe digests the node as it is now.
func (p *Plugin) observe(node *corev1.Node, now time.Time) *loadaware.Node {
	metric, assigned := p.state.NodeMetric(node.Name), p.state.Assigned(node.Name)
	want := observation{node: node, metric: metric, version: assigned.Version}
	p.seen.mutex.RLock()
	kept, found := p.seen.nodes[node.Name]
	p.seen.mutex.RUnlock()
	if found && kept.same(&want) && kept.current(now) {
		return kept.digest
	}
	want.digest = p.policy.Observe(loadaware.NodeInput{Node: node, Metric: metric, Assigned: assigned.Pods, Now: now})
	p.seen.mutex.Lock()
	defer p.seen.mutex.Unlock()
	p.seen.nodes[node.Name] = want
	return want.digest
}

// forget drops a node that left the cluster.
func (o *observations) forget(name string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.nodes, name)
}

// hypotheses keeps the latest digests of nodes as they were or will be. One event asks the same question for every
// pending pod, so very few are enough.
type hypotheses struct {
	mutex  sync.Mutex
	latest [4]observation
	next   int
}

// suppose digests the node with another NodeMetric, and without one of its pods.
func (p *Plugin) suppose(node *corev1.Node, metric *slov1alpha1.NodeMetric, assigned state.Assigned, without types.UID, now time.Time) *loadaware.Node {
	want := observation{node: node, metric: metric, version: assigned.Version, without: without}
	p.supposed.mutex.Lock()
	defer p.supposed.mutex.Unlock()
	for i := range p.supposed.latest {
		if kept := &p.supposed.latest[i]; kept.digest != nil && kept.same(&want) && kept.current(now) {
			return kept.digest
		}
	}
	rest := slices.DeleteFunc(slices.Clone(assigned.Pods), func(pod loadaware.AssignedPod) bool { return pod.Pod.UID == without })
	want.digest = p.policy.Observe(loadaware.NodeInput{Node: node, Metric: metric, Assigned: rest, Now: now})
	p.supposed.latest[p.supposed.next] = want
	p.supposed.next = (p.supposed.next + 1) % len(p.supposed.latest)
	return want.digest
}
