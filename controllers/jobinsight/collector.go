package jobinsight

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
)

const (
	// endsPerPass bounds the pods whose end is read in a pass; others are read in the next.
	endsPerPass = 500
	// seenFrom is how late after the start of a pod its usage may have been followed first, so that its peak counts as that of the run;
	// or a tenth of the run.
	seenFrom = 5 * time.Minute
)

// key of a pod. A new pod of the same name has another UID.
type key struct {
	types.NamespacedName
	uid types.UID
}

func keyOf(pod *corev1.Pod) key { return key{client.ObjectKeyFromObject(pod), pod.UID} }

// running is a job whose pod runs, or has left and is not learned yet.
type running struct {
	pod  *corev1.Pod
	kind jobinsight.Kind
	left bool
	// leftAt is when it was seen to leave.
	leftAt time.Time
	usage  usage
}

// collector follows jobs and learns from those that end.
type collector struct {
	client client.Client
	live   client.Reader
	clock  clock.PassiveClock
	saver

	mutex sync.Mutex
	// running jobs; the pods belong to the cache. Handlers of events write it, too.
	running map[key]*running
	// unread are the engines that could not be read the last time.
	unread map[string]bool
	// sources that are read, of which pods are one.
	sources jobinsight.Sources
}

// started notes a pod that runs on a node.
func (c *collector) started(pod *corev1.Pod) {
	kind, isJob := jobinsight.KindOf(pod)
	if !isJob {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if known := c.running[keyOf(pod)]; known != nil {
		known.pod, known.kind = pod, kind
		return
	}
	c.running[keyOf(pod)] = &running{pod: pod, kind: kind}
}

// left notes that a pod ended or was deleted.
func (c *collector) left(pod *corev1.Pod) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if known := c.running[keyOf(pod)]; known != nil && !known.left {
		known.pod, known.left, known.leftAt = pod, true, c.clock.Now()
	}
}

// pass follows the usage of what runs, learns from what ended, and writes the store if it is due.
func (c *collector) pass(ctx context.Context) {
	if err := c.follow(ctx); err != nil {
		c.report(ctx, err)
	}
	for _, job := range c.ended() {
		if err := c.learn(ctx, job); err != nil {
			c.report(ctx, err)
			break // the API server is asked again in the next pass
		}
	}
	if now := c.clock.Now(); now.Sub(c.saved) >= saveInterval {
		c.report(ctx, c.save(ctx, now))
	}
	publish(c.store)
}

func (c *collector) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "Failed to follow jobs")
	}
}

// follow adds the latest reports about running jobs.
func (c *collector) follow(ctx context.Context) error {
	nodes := c.nodes()
	if len(nodes) == 0 {
		return nil
	}
	var metrics slov1alpha1.NodeMetricList
	if err := c.client.List(ctx, &metrics, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list node metrics: %w", err)
	}
	reports := reportsOf(metrics.Items, nodes)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for at, job := range c.running {
		if report, found := reports[at.NamespacedName]; found {
			job.usage.add(report, jobinsight.StartOf(job.pod))
		}
	}
	return nil
}

// nodes of the pods that are followed.
func (c *collector) nodes() map[types.NamespacedName]string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	nodes := make(map[types.NamespacedName]string, len(c.running))
	for at, job := range c.running {
		nodes[at.NamespacedName] = job.pod.Spec.NodeName
	}
	return nodes
}

// ended are jobs whose pods have left.
func (c *collector) ended() []*running {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var out []*running
	for _, job := range c.running {
		if job.left && len(out) < endsPerPass {
			out = append(out, job)
		}
	}
	return out
}

// learn reads how a pod ended, which the cache does not have, and adds its run to the store.
func (c *collector) learn(ctx context.Context, job *running) error {
	pod := &corev1.Pod{}
	err := c.live.Get(ctx, client.ObjectKeyFromObject(job.pod), pod)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get pod %q in namespace %q: %w", job.pod.Name, job.pod.Namespace, err)
	}
	if apierrors.IsNotFound(err) || pod.UID != job.pod.UID {
		pod = nil
	}
	if run, ok := runOf(job, pod); ok {
		c.store.Observe(run)
		c.dirty = true
		count(run.Outcome)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.running, keyOf(job.pod))
	return nil
}

// runOf is the run of a job whose pod has left; false where it is not known when it started. The pod is nil if it was deleted.
func runOf(job *running, pod *corev1.Pod) (jobinsight.Run, bool) {
	run := jobinsight.Run{Kind: job.kind, Outcome: jobinsight.OutcomeOfDeleted(job.pod), Ended: job.leftAt}
	start := jobinsight.StartOf(job.pod)
	if pod != nil {
		if at, outcome, ended := jobinsight.EndOf(pod); ended {
			run.Outcome = outcome
			if !at.IsZero() {
				run.Ended = at
			}
		}
		if at := jobinsight.StartOf(pod); !at.IsZero() {
			start = at
		}
	}
	duration := run.Ended.Sub(start)
	if start.IsZero() || duration < 0 {
		return run, false
	}
	memory, cpu := job.usage.of(start, duration)
	if run.Outcome == jobinsight.OOMKilled {
		memory = max(memory, memoryLimit(job.pod))
	}
	run.Values = jobinsight.Observed(memory, cpu, duration)
	return run, true
}
