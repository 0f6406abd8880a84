package framework

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removeduplicates"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/descheduler/configuration"
)

// ledger is the state of one pass: which pods are leaving, and what of the limits is used up. It is safe for concurrent use.
type ledger struct {
	// name of the pass on its jobs.
	name   string
	limits configuration.Limits
	dryRun bool
	// circles are the workloads that are not moved.
	circles *circles

	mu sync.Mutex
	// jobs are the live jobs of pods, by UID, and of pods that a job names without one, by namespace and name. Pods that were evicted in
	// this pass are among them.
	jobs   map[types.UID]string
	byName map[types.NamespacedName]string
	// ended are the names of the jobs of a pod that are over.
	ended map[types.UID]map[string]bool
	// moving are the namespaces in which jobs of a plugin were live when the pass began.
	moving map[movement]bool
	// What was evicted in this pass.
	perNode, perNamespace map[string]int64
	total                 int64
	evictions             []Eviction
	omitted               int
}

func newLedger(name string, limits configuration.Limits, dryRun bool, jobs []schedulingv1alpha1.PodMigrationJob, circles *circles) *ledger {
	l := &ledger{
		name: name, limits: limits, dryRun: dryRun, circles: circles,
		jobs: map[types.UID]string{}, byName: map[types.NamespacedName]string{}, ended: map[types.UID]map[string]bool{}, moving: map[movement]bool{},
		perNode: map[string]int64{}, perNamespace: map[string]int64{},
	}
	for i := range jobs {
		l.addJob(&jobs[i])
	}
	return l
}

func (l *ledger) addJob(job *schedulingv1alpha1.PodMigrationJob) {
	pod := job.Spec.PodRef
	if pod == nil {
		return
	}
	if hasEnded(job) {
		if l.ended[pod.UID] == nil {
			l.ended[pod.UID] = map[string]bool{}
		}
		l.ended[pod.UID][job.Name] = true
		return
	}
	l.moving[movement{job.Annotations[extension.AnnotationEvictTrigger], pod.Namespace}] = true
	switch {
	case pod.UID != "":
		l.jobs[pod.UID] = job.Name
	default:
		l.byName[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = job.Name
	}
}

// movement is a plugin that moves pods of a namespace.
type movement struct{ plugin, namespace string }

// spreading are the plugins that judge how the pods of a namespace are spread. A pod that leaves is gone from where it was long before its
// successor is seen where it goes, so they would find the rest unevenly spread, and move one more in each pass.
var spreading = []string{removeduplicates.PluginName, removepodsviolatingtopologyspreadconstraint.PluginName}

// settling is true while a plugin that spreads pods has to wait for those of an earlier pass to arrive.
func (l *ledger) settling(plugin, namespace string) bool {
	return l.moving[movement{plugin, namespace}] && slices.Contains(spreading, plugin)
}

// hasEnded is true for a job that does nothing any more.
func hasEnded(job *schedulingv1alpha1.PodMigrationJob) bool {
	switch job.Status.Phase {
	case schedulingv1alpha1.PodMigrationJobSucceeded, schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobAborted:
		return true
	}
	return false
}

// job is the live job of a pod; empty when it has none.
func (l *ledger) job(pod *corev1.Pod) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if name := l.jobs[pod.UID]; name != "" {
		return name
	}
	return l.byName[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}]
}

// leaving says why a pod is on its way already; empty when it is not. Others evict pods too: the API server marks those with a condition,
// and the descheduler of sigs.k8s.io with an annotation where the eviction takes its time.
func (l *ledger) leaving(pod *corev1.Pod) string {
	if pod.DeletionTimestamp != nil {
		return "the pod is being deleted"
	}
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue {
			return "the pod is being disrupted: " + condition.Reason
		}
	}
	if _, ok := pod.Annotations[evictions.EvictionInProgressAnnotationKey]; ok {
		return "the pod is being evicted in the background"
	}
	if job := l.job(pod); job != "" {
		return "the pod has the migration job " + job
	}
	return ""
}

// take gives the pod a job and uses up one eviction of every limit. It does neither when a limit is reached, and says which by the errors
// that plugins know, nor when the pod has a job already, as two plugins may ask at once.
func (l *ledger) take(pod *corev1.Pod, job string) (taken bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	node, namespace := pod.Spec.NodeName, pod.Namespace
	switch {
	case l.jobs[pod.UID] != "":
		return false, nil
	case reached(l.limits.Total, l.total):
		return false, evictions.NewEvictionTotalLimitError()
	case node != "" && reached(l.limits.PerNode, l.perNode[node]):
		return false, evictions.NewEvictionNodeLimitError(node)
	case reached(l.limits.PerNamespace, l.perNamespace[namespace]):
		return false, evictions.NewEvictionNamespaceLimitError(namespace)
	}
	l.count(pod, 1)
	l.jobs[pod.UID] = job
	return true, nil
}

func reached(limit *int64, count int64) bool { return limit != nil && count >= *limit }

// giveBack undoes take.
func (l *ledger) giveBack(pod *corev1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(pod, -1)
	delete(l.jobs, pod.UID)
}

// found notes that the pod had a job already, which counts against no limit.
func (l *ledger) found(pod *corev1.Pod, job string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(pod, -1)
	l.jobs[pod.UID] = job
}

func (l *ledger) count(pod *corev1.Pod, by int64) {
	if pod.Spec.NodeName != "" {
		l.perNode[pod.Spec.NodeName] += by
	}
	l.perNamespace[pod.Namespace] += by
	l.total += by
}

// attempt is the first one of the pod of which no job is over. Jobs that are over are deleted in any order.
func (l *ledger) attempt(pod *corev1.Pod) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	attempt := 0
	for l.ended[pod.UID][jobName(pod, attempt)] {
		attempt++
	}
	return attempt
}

func (l *ledger) record(eviction Eviction) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.evictions) == maxEvictions {
		l.omitted++
		return
	}
	l.evictions = append(l.evictions, eviction)
}

// recorded are the evictions that were recorded, and how many did not fit.
func (l *ledger) recorded() (evictions []Eviction, omitted int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.evictions), l.omitted
}
