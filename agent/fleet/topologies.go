package fleet

import (
	"context"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/report"
	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// topologyWriters is how many NodeResourceTopologies are written at the same time.
const topologyWriters = 8

// kubelet of a simulated node leaves CPUs to the scheduler, as that of every node should that binds pods by their
// annotations.
var kubelet = report.Kubelet{CPUManager: extension.KubeletCPUManagerPolicy{Policy: extension.KubeletCPUManagerPolicyNone}}

// topologies keeps the NodeResourceTopology of every node as its machine, its Node and its pods are. Everything is made of
// what the informers show at the time of writing, so that a node is never wrong for longer than a write takes.
type topologies struct {
	informers *informers
	writer    *report.TopologyWriter
	queue     workqueue.TypedRateLimitingInterface[string]
	metrics   *instruments
	// port that is announced; nil when there is none.
	port *port
	// handling have synced once everything that was there in the beginning is in the queue.
	handling []cache.InformerSynced
	// failed says that the API server did not take the last write; it is logged when that changes.
	failed atomic.Bool
	// problems holds, by node name, what was last logged of its annotations.
	problems sync.Map
}

func newTopologies(client rest.Interface, clock clock.WithTicker, informers *informers, metrics *instruments) *topologies {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)
	return &topologies{
		informers: informers, writer: report.NewTopologyWriter(client), metrics: metrics,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[string]{Clock: clock}),
	}
}

// run writes topologies until the context ends. A cluster that does not serve them is asked again and again.
func (t *topologies) run(ctx context.Context, c *connection.Clients) {
	var group sync.WaitGroup
	defer group.Wait()
	defer t.queue.ShutDown()
	if c.Await(ctx, connection.NodeTopologies) != nil {
		return
	}
	group.Go(func() { t.informers.topologies.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), t.handling...) {
		return
	}
	for range topologyWriters {
		group.Go(func() {
			for t.next(ctx) {
			}
		})
	}
	<-ctx.Done()
}

// next brings one node up to date; it returns false when there will be no more.
func (t *topologies) next(ctx context.Context) bool {
	name, shutdown := t.queue.Get()
	if shutdown {
		return false
	}
	defer t.queue.Done(name)
	written, err := t.write(ctx, name)
	switch {
	case ctx.Err() != nil:
	case err == nil:
		t.queue.Forget(name)
		if written {
			t.taken(ctx)
		}
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err):
		// The informer is behind; when it catches up, the node is in the queue again, unless it already did.
		t.metrics.countTopology(reportMissed)
		t.queue.AddRateLimited(name)
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		klog.FromContext(ctx).Error(err, "API server rejected NodeResourceTopology", "node", name)
		t.metrics.countTopology(reportRefused)
		t.queue.Forget(name)
	default:
		t.metrics.countTopology(reportFailed)
		if !t.failed.Swap(true) {
			klog.FromContext(ctx).Error(err, "Failed to write NodeResourceTopologies, will retry")
		}
		t.queue.AddRateLimited(name)
	}
	return true
}

func (t *topologies) taken(ctx context.Context) {
	t.metrics.countTopology(reportTaken)
	if t.failed.Swap(false) {
		klog.FromContext(ctx).Info("Writing NodeResourceTopologies again")
	}
}

// write brings one node up to date. A node that is gone needs nothing: the garbage collector removes what it owns.
func (t *topologies) write(ctx context.Context, name string) (written bool, err error) {
	object, exists, _ := t.informers.nodes.GetStore().GetByKey(name)
	node, ok := object.(*nodeRecord)
	if !exists || !ok {
		t.problems.Delete(name)
		return false, nil
	}
	wanted, problem := report.Topology(report.TopologyInput{Node: node.topology, Machine: node.sim.Topology(), Kubelet: kubelet, Pods: t.podsOf(name)})
	t.reportProblem(ctx, name, problem)
	if wanted == nil {
		return false, nil
	}
	if err := extension.SetAgentServing(wanted, t.port.announce()); err != nil {
		return false, err
	}
	object, _, _ = t.informers.topologies.GetStore().GetByKey(name)
	current, _ := object.(*topologyv1alpha1.NodeResourceTopology)
	return t.writer.Write(ctx, current, wanted)
}

// podsOf lists the pods of a node that own CPUs. They own them from when they are bound, before they run.
func (t *topologies) podsOf(node string) []report.BoundPod {
	objects, err := t.informers.pods.GetIndexer().ByIndex(byNode, node)
	if err != nil {
		return nil // the index was added before the informer started
	}
	var bound []report.BoundPod
	for _, object := range objects {
		if pod, ok := object.(*podRecord); ok && !pod.owned.IsEmpty() {
			bound = append(bound, report.BoundPod{QoS: pod.qos, CPUs: pod.owned})
		}
	}
	return bound
}

// reportProblem logs what is wrong with a node, once for as long as it stays the same.
func (t *topologies) reportProblem(ctx context.Context, name string, problem error) {
	if problem == nil {
		t.problems.Delete(name)
		return
	}
	if before, _ := t.problems.Swap(name, text(problem)); before != text(problem) {
		klog.FromContext(ctx).Error(problem, "NodeResourceTopology is incomplete", "node", name)
	}
}
