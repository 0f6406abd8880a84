package migrations

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/descheduling/arbitration"
)

// check holds all jobs and pods against the limits.
func (w *world) check() {
	running := map[string]int{}
	for _, job := range w.migrationJobs() {
		if arbitration.StateOf(job) != arbitration.Running {
			continue
		}
		if !w.checked[job.UID] {
			w.checked[job.UID], w.admitted = true, w.admitted+1
		}
		running["all"]++
		running["namespace "+job.Spec.PodRef.Namespace]++
		running[job.Annotations[extension.AnnotationSourceNode]]++
		running[job.Labels["app"]]++
		if want := "Deployment/" + job.Labels["app"] + "/"; !strings.HasPrefix(job.Annotations[extension.AnnotationSourceWorkload], want) {
			w.problem("%s has the workload %q, want %s", job.Name, job.Annotations[extension.AnnotationSourceWorkload], want)
		}
	}
	w.atMost("running jobs", running["all"], w.limits.MaxMigratingGlobally)
	for _, namespace := range []string{"shop", "lab"} {
		w.atMost("running jobs of "+namespace, running["namespace "+namespace], w.limits.MaxMigratingPerNamespace)
		w.within("namespace "+namespace, w.limits.ObjectLimiters.Namespace, 1<<30)
	}
	for _, node := range w.nodes {
		w.atMost("running jobs of "+node, running[node], w.limits.MaxMigratingPerNode)
	}
	for _, deployment := range w.deployments {
		replicas := w.replicas(deployment)
		w.atMost("running jobs of "+deployment, running[deployment], new(int32(arbitration.Maximum(replicas, w.limits.MaxMigratingPerWorkload))))
		if w.calm {
			w.atMost("unavailable pods of "+deployment, replicas-w.available(deployment), new(int32(arbitration.Maximum(replicas, w.limits.MaxUnavailablePerWorkload))))
		}
		w.within(deployment, w.limits.ObjectLimiters.Workload, replicas)
	}
}

func (w *world) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf("after %d lines: ", len(w.trace))+fmt.Sprintf(format, args...))
}

func (w *world) atMost(what string, used int, most *int32) {
	if most != nil && *most > 0 && used > int(*most) {
		w.problem("%d %s, at most %d may be", used, what, *most)
	}
}

// within counts evictions within the duration of a limiter.
func (w *world) within(what string, limiter *arbitration.ObjectLimiter, pods int) {
	if limiter == nil {
		return
	}
	count := 0
	for _, at := range w.evictions[what] {
		if w.now.Sub(at) < limiter.Duration {
			count++
		}
	}
	if most := max(arbitration.Maximum(pods, limiter.MaxMigrating), limiter.Burst); count > most {
		w.problem("%d evictions of %s within %s, at most %d may be", count, what, limiter.Duration, most)
	}
}
