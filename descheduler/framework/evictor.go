package framework

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/evictability"
)

// The names under which refusals are counted that come from no plugin: the pod is leaving, other pods of its namespace are on the way, or its
// workload goes in circles.
const (
	leavingFilter  = "Leaving"
	settlingFilter = "Settling"
	circlesFilter  = string(evictability.MigrationLoop)
)

// errNoPass is for plugins that evict when they are not asked to.
var errNoPass = errors.New("evictions are made during a pass only")

// evictor is the Evictor of one plugin of one profile.
type evictor struct {
	descheduler *Descheduler
	profile     *profile
	plugin      string

	mu  sync.Mutex
	run *PluginRun
}

var _ Evictor = (*evictor)(nil)

// begin counts into run from now on.
func (e *evictor) begin(run *PluginRun) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.run = run
}

// count changes the record of the plugin, if it is running.
func (e *evictor) count(change func(run *PluginRun)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run != nil {
		change(e.run)
	}
}

// Filter says whether the pod may be evicted: it is not leaving already, its workload does not go in circles, and all plugins of the
// extension points evict and filter consent.
func (e *evictor) Filter(pod *corev1.Pod) bool { return e.Refusing(pod) == "" }

// Refusing is Filter with the name of what refuses the pod; empty when it may be evicted.
func (e *evictor) Refusing(pod *corev1.Pod) string {
	refused := ""
	switch pass := e.descheduler.pass.Load(); {
	case pass != nil && pass.leaving(pod) != "":
		refused = leavingFilter
	case pass != nil && pass.settling(e.plugin, pod.Namespace):
		refused = settlingFilter
	default:
		refused = e.profile.refusing(func(filter frameworktypes.EvictorPlugin) bool { return filter.Filter(pod) })
		if refused == "" && pass != nil && pass.circles.refusal(pod) != "" {
			refused = circlesFilter
		}
	}
	e.count(func(run *PluginRun) {
		run.Considered++
		if refused != "" {
			run.Refused[refused]++
		}
	})
	return refused
}

// PreEvictionFilter says whether the pod may be evicted, by checks that are too costly to be made of every pod.
func (e *evictor) PreEvictionFilter(pod *corev1.Pod) bool {
	refused := e.profile.refusing(func(filter frameworktypes.EvictorPlugin) bool { return filter.PreEvictionFilter(pod) })
	if refused != "" {
		e.count(func(run *PluginRun) { run.Refused[refused]++ })
	}
	return refused == ""
}

// Evict creates a migration job for the pod.
func (e *evictor) Evict(ctx context.Context, pod *corev1.Pod, options evictions.EvictOptions) error {
	return e.EvictBy(ctx, pod, options, nil)
}

// EvictBy creates a migration job for the pod that edit has changed. A pod that is leaving already counts as evicted for the plugin, and
// against no limit.
func (e *evictor) EvictBy(ctx context.Context, pod *corev1.Pod, options evictions.EvictOptions, edit func(*schedulingv1alpha1.PodMigrationJob)) error {
	pass := e.descheduler.pass.Load()
	if pass == nil {
		return errNoPass
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("evict pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	if pod.UID == "" {
		return fmt.Errorf("evict pod %s/%s: it has no UID", pod.Namespace, pod.Name)
	}
	options.ProfileName = e.profile.name
	if options.StrategyName == "" {
		options.StrategyName = e.plugin
	}
	entry := Eviction{
		Profile: options.ProfileName, Plugin: options.StrategyName, Reason: options.Reason,
		Namespace: pod.Namespace, Pod: pod.Name, UID: pod.UID, Node: pod.Spec.NodeName,
	}
	err := e.evict(ctx, pass, pod, &entry, edit)
	e.report(ctx, pass, &entry, err)
	return err
}

// evict fills in the result of the entry.
func (e *evictor) evict(ctx context.Context, pass *ledger, pod *corev1.Pod, entry *Eviction, edit func(*schedulingv1alpha1.PodMigrationJob)) error {
	if why := pass.leaving(pod); why != "" {
		entry.Result, entry.Error, entry.Job = AlreadyLeaving, why, pass.job(pod)
		return nil
	}
	if refusal := pass.circles.refusal(pod); refusal != "" {
		entry.Result, entry.Error = InCircles, refusal
		return fmt.Errorf("evict pod %s/%s: %s", pod.Namespace, pod.Name, refusal)
	}
	attempt := pass.attempt(pod)
	job := e.newJob(pass, pod, entry, attempt, edit)
	entry.Job = job.Name
	taken, err := pass.take(pod, job.Name)
	switch {
	case err != nil:
		return err
	case !taken:
		entry.Result = AlreadyLeaving
		return nil
	case pass.dryRun:
		entry.Result = WouldCreateJob
		return nil
	}
	name, created, err := e.descheduler.createJob(ctx, job, attempt)
	if err != nil {
		// A job that may be there counts.
		if !errors.Is(err, errUnknown) {
			pass.giveBack(pod)
		}
		entry.Result, entry.Error = EvictionFailed, err.Error()
		return err
	}
	entry.Result, entry.Job = JobCreated, name
	if !created {
		pass.found(pod, name)
		entry.Result = AlreadyLeaving
	}
	return nil
}

// report counts, logs and records the eviction. A limit that is reached is not recorded one by one: in a large cluster, all further pods
// of a node meet it.
func (e *evictor) report(ctx context.Context, pass *ledger, entry *Eviction, err error) {
	e.count(func(run *PluginRun) {
		switch entry.Result {
		case JobCreated, WouldCreateJob:
			run.Evicted++
		case EvictionFailed:
			run.Failed++
		case InCircles:
			run.Refused[circlesFilter]++
		case "":
			run.Limited++
		}
	})
	e.descheduler.metrics.evicted(entry, err)
	logger := klog.FromContext(ctx).WithValues("pod", klog.KRef(entry.Namespace, entry.Pod), "node", entry.Node, "plugin", entry.Plugin, "profile", entry.Profile)
	switch entry.Result {
	case "":
		logger.V(4).Info("eviction exceeds a limit of the pass", "limit", err.Error())
		return
	case EvictionFailed:
		logger.Error(err, "cannot create a migration job")
	case InCircles:
		logger.V(4).Info("eviction is refused", "why", entry.Error)
	default:
		logger.V(1).Info("evict pod", "result", entry.Result, "job", entry.Job, "reason", entry.Reason)
	}
	pass.record(*entry)
}
