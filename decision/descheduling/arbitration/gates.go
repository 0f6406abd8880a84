package arbitration

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// limit is one limit that running jobs count for.
type limit struct {
	name Gate
	// ask says whether the job exceeds the limit; false when the limit does not apply to the job.
	ask func(in *Input, job *Job, slots *slots) (Outcome, bool)
}

var limits = []limit{
	{MaxMigratingGlobally, globally},
	{MaxMigratingPerNamespace, perNamespace},
	{MaxMigratingPerNode, perNode},
	{UnknownWorkload, unknownWorkload},
	{MaxMigratingPerWorkload, perWorkload},
	{MaxUnavailablePerWorkload, unavailable},
	{ObjectLimiterWorkload, workloadLimiter},
	{ObjectLimiterNamespace, namespaceLimiter},
}

// compare waits where a limit is used up.
func compare(used, most int, message string) (Outcome, bool) {
	outcome := Outcome{Used: used, Max: most}
	if used >= most {
		outcome.Decision, outcome.Message = Waiting, message
	}
	return outcome, true
}

// set says whether a count is a limit.
func set(limit *int32) bool { return limit != nil && *limit > 0 }

func globally(in *Input, _ *Job, slots *slots) (Outcome, bool) {
	most := in.Limits.MaxMigratingGlobally
	if !set(most) {
		return Outcome{}, false
	}
	return compare(slots.all, int(*most), fmt.Sprintf("%d jobs are running, at most %d may", slots.all, *most))
}

func perNamespace(in *Input, job *Job, slots *slots) (Outcome, bool) {
	most := in.Limits.MaxMigratingPerNamespace
	if !set(most) {
		return Outcome{}, false
	}
	used := slots.namespaces[job.Namespace]
	return compare(used, int(*most), fmt.Sprintf("%d jobs of namespace %s are running, at most %d may", used, job.Namespace, *most))
}

func perNode(in *Input, job *Job, slots *slots) (Outcome, bool) {
	most := in.Limits.MaxMigratingPerNode
	if !set(most) || job.Node == "" {
		return Outcome{}, false
	}
	used := slots.nodes[job.Node] + slots.unattributed
	return compare(used, int(*most), fmt.Sprintf("%d pods of node %s are migrating, at most %d may", used, job.Node, *most))
}

func unknownWorkload(in *Input, job *Job, _ *slots) (Outcome, bool) {
	if _, found := in.Workloads[job.Workload]; found || job.Workload == "" {
		return Outcome{}, false
	}
	return waiting(UnknownWorkload, fmt.Sprintf("the replicas of the controller %s of pod %s/%s are not known", job.Workload, job.Namespace, job.Pod)), true
}

func perWorkload(in *Input, job *Job, slots *slots) (Outcome, bool) {
	if job.Workload == "" {
		return Outcome{}, false
	}
	workload := in.Workloads[job.Workload]
	most := Maximum(workload.replicas(), in.Limits.MaxMigratingPerWorkload)
	used := slots.workloads[job.Workload] + slots.unattributedByNamespace[job.Namespace]
	return compare(used, most, fmt.Sprintf("%d pods of %s are migrating, at most %d of %d may", used, workload.title(), most, workload.replicas()))
}

func unavailable(in *Input, job *Job, slots *slots) (Outcome, bool) {
	if job.Workload == "" {
		return Outcome{}, false
	}
	workload := in.Workloads[job.Workload]
	most := Maximum(workload.replicas(), in.Limits.MaxUnavailablePerWorkload)
	used := slots.unavailable(job, &workload)
	if job.ReplacedFirst { // the limit is for the others alone: this job makes none unavailable
		outcome, applies := compare(used, most+1, fmt.Sprintf("%d other pods of %s are unavailable or migrating, at most %d of %d may be", used, workload.title(), most, workload.replicas()))
		outcome.Max = most
		return outcome, applies
	}
	return compare(used, most, fmt.Sprintf("%d other pods of %s are unavailable or migrating, and with this one at most %d of %d may be", used, workload.title(), most, workload.replicas()))
}

// unavailable pods of a workload beside the one of the job: those that are not ready or about to be evicted, or, where that is more,
// those that are missing from the replicas. A pod that is evicted once another one is ready is not about to be missed.
func (s *slots) unavailable(job *Job, workload *Workload) int {
	down, available, present := 0, 0, map[types.UID]bool{}
	for _, pod := range workload.Pods {
		present[pod.UID] = true
		switch {
		case pod.UID == job.PodUID:
		case pod.Ready && (!s.moving[pod.UID] || s.replacedFirst[pod.UID]) && !s.evicted[pod.UID]:
			available++
		default:
			down++
		}
	}
	replicas := workload.replicas()
	if !workload.Known { // what jobs moved away may not have come back
		for _, pod := range s.workloadPods[job.Workload] {
			if !present[pod] {
				replicas++
			}
		}
	}
	return max(down, replicas-1-available) + s.unattributedByNamespace[job.Namespace]
}

func workloadLimiter(in *Input, job *Job, slots *slots) (Outcome, bool) {
	limiter := in.Limits.ObjectLimiters.Workload
	if limiter == nil || limiter.Duration <= 0 || job.Workload == "" {
		return Outcome{}, false
	}
	workload, value := in.Workloads[job.Workload], limiter.MaxMigrating
	if value == nil {
		value = in.Limits.MaxMigratingPerWorkload
	}
	most := Maximum(workload.replicas(), value)
	past := entry(slots.workloadEvictions, job.Workload)
	return limiter.outcome(in.Now, past, slots.unattributedByNamespace[job.Namespace], most, workload.title()), true
}

func namespaceLimiter(in *Input, job *Job, slots *slots) (Outcome, bool) {
	limiter := in.Limits.ObjectLimiters.Namespace
	if limiter == nil || limiter.Duration <= 0 {
		return Outcome{}, false
	}
	most := 0
	switch {
	case limiter.MaxMigrating != nil:
		most = max(1, Maximum(in.NamespacePods[job.Namespace], limiter.MaxMigrating))
	case set(in.Limits.MaxMigratingPerNamespace):
		most = int(*in.Limits.MaxMigratingPerNamespace)
	default:
		return Outcome{}, false
	}
	return limiter.outcome(in.Now, entry(slots.namespaceEvictions, job.Namespace), 0, most, "namespace "+job.Namespace), true
}

// outcome of asking a limiter for one eviction more. Further are evictions that may be coming beside those that are known.
func (l *ObjectLimiter) outcome(now time.Time, of *evictions, further, most int, title string) Outcome {
	used, wait := l.ask(now, of.past, of.coming+further, most)
	outcome := Outcome{Used: used, Max: most}
	if wait > 0 {
		outcome.Decision, outcome.Retry = Waiting, wait
		outcome.Message = fmt.Sprintf("%d pods of %s were evicted within %s or are about to be, at most %d may", used, title, l.Duration, most)
	}
	return outcome
}
