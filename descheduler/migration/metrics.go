package migration

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const subsystem = "koord_descheduler"

var (
	podsEvicted = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "descheduler", Name: "pods_evicted",
		Help: "Number of pods evicted, by result (success or error), strategy, namespace and node. A refusal by a PodDisruptionBudget is an error.",
	}, []string{"result", "strategy", "namespace", "node"})
	jobs = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: subsystem, Name: "migration_jobs", Help: "Number of PodMigrationJobs, by phase.",
	}, []string{"phase"})
	jobsFinished = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: subsystem, Name: "migration_jobs_finished_total", Help: "Number of PodMigrationJobs that ended, by phase and reason.",
	}, []string{"phase", "reason"})
	jobDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Subsystem: subsystem, Name: "migration_job_duration_seconds", Help: "Time from the creation of a PodMigrationJob to its end, by phase.",
		Buckets: []float64{1, 2.5, 5, 10, 20, 40, 60, 120, 180, 300, 600, 1800},
	}, []string{"phase"})
	jobsRemoved = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: subsystem, Name: "migration_jobs_removed_total",
		Help: "Number of PodMigrationJobs deleted after they ended, by reason: Expired, or NamespaceFull and Full when there were more than are kept.",
	}, []string{"reason"})
	orphans = prometheus.NewCounter(prometheus.CounterOpts{
		Subsystem: subsystem, Name: "orphaned_reservations_total", Help: "Number of Reservations released because their PodMigrationJob does not exist.",
	})
)

var register = sync.OnceFunc(func() {
	metrics.Registry.MustRegister(podsEvicted, jobs, jobsFinished, jobDuration, jobsRemoved, orphans)
})

// countEviction counts one try to evict a pod. The strategy is the plugin that asked for it.
func countEviction(job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod, err error) {
	result := "success"
	if err != nil {
		result = "error"
	}
	podsEvicted.WithLabelValues(result, job.Annotations[extension.AnnotationEvictTrigger], pod.Namespace, pod.Spec.NodeName).Inc()
}

func countFinished(job *schedulingv1alpha1.PodMigrationJob, now time.Time) {
	jobsFinished.WithLabelValues(string(job.Status.Phase), job.Status.Reason).Inc()
	jobDuration.WithLabelValues(string(job.Status.Phase)).Observe(max(now.Sub(job.CreationTimestamp.Time), 0).Seconds())
}

// publishJobs counts the jobs of each phase; a phase without jobs has 0.
func publishJobs(list []schedulingv1alpha1.PodMigrationJob) {
	counts := map[schedulingv1alpha1.PodMigrationJobPhase]int{
		schedulingv1alpha1.PodMigrationJobPending: 0, schedulingv1alpha1.PodMigrationJobRunning: 0, schedulingv1alpha1.PodMigrationJobSucceeded: 0,
		schedulingv1alpha1.PodMigrationJobFailed: 0, schedulingv1alpha1.PodMigrationJobAborted: 0,
	}
	for i := range list {
		phase := list[i].Status.Phase
		if phase == "" {
			phase = schedulingv1alpha1.PodMigrationJobPending
		}
		if _, known := counts[phase]; known {
			counts[phase]++
		}
	}
	for phase, count := range counts {
		jobs.WithLabelValues(string(phase)).Set(float64(count))
	}
}
