package migration

import (
	"cmp"
	"slices"
	"time"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Bounds of the jobs that are kept after they ended, so that they do not fill etcd: a job takes about 3 KiB.
const (
	// MaxEnded of all namespaces.
	MaxEnded = 5000
	// MaxEndedPerNamespace of pods, so that the jobs of one namespace do not displace those of all others.
	MaxEndedPerNamespace = 2000
	// History is how long jobs are kept at least after they ended.
	History = 24 * time.Hour
)

// Retention says which of the jobs that ended are kept. They are the durable record of what was moved: object limiters count their
// evictions, the planner does not move a workload back by them, and users look them up.
type Retention struct {
	// For is how long a job is kept after it ended.
	For time.Duration
	// Max and MaxPerNamespace bound the jobs that are kept; 0 is no bound.
	Max, MaxPerNamespace int
}

// RetentionOf is the retention for components that look back so far each; it is never shorter than History.
func RetentionOf(memories ...time.Duration) Retention {
	return Retention{For: max(History, slices.Max(append(memories, 0))), Max: MaxEnded, MaxPerNamespace: MaxEndedPerNamespace}
}

// RemovalReason is why a job that ended is not kept.
type RemovalReason string

// The reasons of a removal.
const (
	// RemovalExpired: the job ended longer ago than jobs are kept.
	RemovalExpired RemovalReason = "Expired"
	// RemovalNamespaceFull and RemovalFull: more jobs ended than are kept of the namespace, and of all.
	RemovalNamespaceFull RemovalReason = "NamespaceFull"
	RemovalFull          RemovalReason = "Full"
)

// Removal is a job that is not kept.
type Removal struct {
	Job    *schedulingv1alpha1.PodMigrationJob
	Reason RemovalReason
}

// Removals are the jobs that are not kept, in the order in which they are to be deleted. Where there are too many, those that never tried to
// evict their pod go first, as only users look back at them, and then the oldest. A job that has not ended is kept: it has a deadline.
func (r Retention) Removals(jobs []schedulingv1alpha1.PodMigrationJob, now time.Time) []Removal {
	var removals []Removal
	var kept []*schedulingv1alpha1.PodMigrationJob
	for i := range jobs {
		switch job := &jobs[i]; {
		case !Finished(job) || job.DeletionTimestamp != nil:
		case now.Sub(Latest(job)) > r.For:
			removals = append(removals, Removal{job, RemovalExpired})
		default:
			kept = append(kept, job)
		}
	}
	slices.SortFunc(removals, func(a, b Removal) int { return inOrderOfUse(a.Job, b.Job) })
	slices.SortFunc(kept, inOrderOfUse)
	kept, full := r.surplusOfNamespaces(kept)
	removals = append(removals, full...)
	for _, job := range kept[:surplus(len(kept), r.Max)] {
		removals = append(removals, Removal{job, RemovalFull})
	}
	return removals
}

// surplusOfNamespaces takes the first jobs of the namespaces that have too many away.
func (r Retention) surplusOfNamespaces(jobs []*schedulingv1alpha1.PodMigrationJob) (kept []*schedulingv1alpha1.PodMigrationJob, removals []Removal) {
	tooMany := map[string]int{}
	for _, job := range jobs {
		tooMany[podNamespace(job)]++
	}
	for namespace, count := range tooMany {
		tooMany[namespace] = surplus(count, r.MaxPerNamespace)
	}
	for _, job := range jobs {
		if namespace := podNamespace(job); tooMany[namespace] > 0 {
			tooMany[namespace]--
			removals = append(removals, Removal{job, RemovalNamespaceFull})
			continue
		}
		kept = append(kept, job)
	}
	return kept, removals
}

func surplus(count, most int) int {
	if most <= 0 {
		return 0
	}
	return max(count-most, 0)
}

func podNamespace(job *schedulingv1alpha1.PodMigrationJob) string {
	if job.Spec.PodRef == nil {
		return ""
	}
	return job.Spec.PodRef.Namespace
}

// inOrderOfUse puts the job that is of less use first.
func inOrderOfUse(a, b *schedulingv1alpha1.PodMigrationJob) int {
	return cmp.Or(cmp.Compare(evictions(a), evictions(b)), Latest(a).Compare(Latest(b)), cmp.Compare(a.Name, b.Name))
}

// evictions is 1 for a job that evicted its pod or tried to, and else 0.
func evictions(job *schedulingv1alpha1.PodMigrationJob) int {
	if Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionEviction) == nil {
		return 0
	}
	return 1
}
