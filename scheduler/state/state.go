package state

import (
	"context"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/loadaware"
)

// Reader is what plugins read. Neither results nor what they point to may be changed.
type Reader interface {
	// NodeMetric of a node, nil when there is none.
	NodeMetric(node string) *slov1alpha1.NodeMetric
	// Assigned pods of a node that have neither succeeded nor failed.
	Assigned(node string) Assigned
	// Stamp moves whenever NodeMetric or Assigned of the node changes. It is nil where that is not followed.
	Stamp(node string) *atomic.Uint64
}

// Assigned is the list of pods on one node at one moment.
type Assigned struct {
	// Version differs between any two lists of the same node that are not the same.
	Version uint64
	Pods    []loadaware.AssignedPod
}

// Cluster is the shared state of one scheduler. It is safe for concurrent use.
type Cluster struct {
	metrics  *NodeMetrics
	assigned *assignments
	stamps   *stamps
}

// NewCluster creates the state of a scheduler from the cluster that config reaches. Pods come from the scheduler's own
// informer. Nothing is watched before Run.
func NewCluster(config *rest.Config, pods cache.SharedIndexInformer) (*Cluster, error) {
	stamps := &stamps{}
	metrics, err := newNodeMetrics(config, stamps)
	if err != nil {
		return nil, err
	}
	cluster := &Cluster{metrics: metrics, assigned: newAssignments(stamps), stamps: stamps}
	if _, err := pods.AddEventHandler(cluster.assigned.handler()); err != nil {
		return nil, err
	}
	return cluster, nil
}

// Run watches NodeMetrics until the context ends. The absence of the NodeMetric resource is not an error: it is looked
// for again, at growing intervals of up to half a minute, for as long as Run lasts.
func (c *Cluster) Run(ctx context.Context) { c.metrics.run(ctx) }

// NodeMetrics gives access to the informer.
func (c *Cluster) NodeMetrics() *NodeMetrics { return c.metrics }

// NodeMetric implements Reader.
func (c *Cluster) NodeMetric(node string) *slov1alpha1.NodeMetric { return c.metrics.get(node) }

// Assigned implements Reader.
func (c *Cluster) Assigned(node string) Assigned { return c.assigned.list(node) }

// Stamp implements Reader.
func (c *Cluster) Stamp(node string) *atomic.Uint64 { return c.stamps.of(node) }

// Reserve counts a pod on the node chosen for it, before the binding is written.
func (c *Cluster) Reserve(pod *corev1.Pod, node string, at time.Time) {
	c.assigned.reserve(pod, node, at)
}

// Unreserve takes back Reserve, unless the pod was bound meanwhile.
func (c *Cluster) Unreserve(pod *corev1.Pod, node string) { c.assigned.unreserve(pod, node) }

// MetricsChanged counts changes of NodeMetrics; it never repeats.
func (c *Cluster) MetricsChanged() uint64 { return c.metrics.changes.Load() }
