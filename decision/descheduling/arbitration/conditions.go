package arbitration

import (
	"fmt"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// conditions are what a job needs whatever the limits are.
func (in *Input) conditions(job *Job, slots *slots) Outcome {
	name := job.Namespace + "/" + job.Pod
	switch {
	case job.Namespace == "" || job.Pod == "":
		return refused(InvalidPodRef, schedulingv1alpha1.PodMigrationJobReasonInvalidPodRef, "podRef needs a namespace and a name")
	case job.Paused:
		return waiting(Paused, "the job is paused")
	case !job.Expires.IsZero() && !in.Now.Before(job.Expires):
		return waiting(Expired, "the ttl of the job is over")
	case job.Missing:
		return refused(MissingPod, schedulingv1alpha1.PodMigrationJobReasonMissingPod, fmt.Sprintf("pod %s does not exist", name))
	case slots.moving[job.PodUID] || slots.running[[2]string{job.Namespace, job.Pod}] != "":
		return waiting(ExistingJob, fmt.Sprintf("another job moves pod %s", name))
	case job.Held != "":
		return waiting(Held, job.Held)
	}
	return Outcome{}
}

// evictability refuses jobs whose pod must not be evicted at all.
func (in *Input) evictability(job *Job, _ *slots) Outcome {
	if job.Evictability.Allowed {
		return Outcome{}
	}
	gate, message := Gate(""), job.Evictability.Message()
	if refusals := job.Evictability.Refusals; len(refusals) > 0 {
		gate = Gate(refusals[0].Gate)
	}
	return forbidden(gate, message)
}

// expectedReplicas refuses pods of workloads of which the limits would let nothing run. A pod that is replaced before it is evicted leaves
// its replacement running.
func (in *Input) expectedReplicas(job *Job, _ *slots) Outcome {
	skipped := in.Limits.SkipCheckExpectedReplicas || in.Limits.skips(ExpectedReplicas)
	if job.Workload == "" || skipped || job.ReplacedFirst || job.Evictability.Annotated {
		return Outcome{}
	}
	workload, found := in.Workloads[job.Workload]
	if !found {
		return Outcome{}
	}
	replicas := workload.replicas()
	migrating, unavailable := Maximum(replicas, in.Limits.MaxMigratingPerWorkload), Maximum(replicas, in.Limits.MaxUnavailablePerWorkload)
	var message string
	switch {
	case replicas <= 1:
		message = "it has only one replica"
	case replicas == migrating:
		message = fmt.Sprintf("maxMigratingPerWorkload allows all %d replicas", replicas)
	case replicas == unavailable:
		message = fmt.Sprintf("maxUnavailablePerWorkload allows all %d replicas", replicas)
	default:
		return Outcome{}
	}
	if job.EvictedFirst != "" {
		message += ", and the pod is evicted before it is replaced: " + job.EvictedFirst
	}
	return forbidden(ExpectedReplicas, fmt.Sprintf("nothing of %s would be left running: %s", workload.title(), message))
}

// replicas that a workload should have; of one that does not say, those that it has.
func (w *Workload) replicas() int {
	if w.Known {
		return w.Replicas
	}
	return len(w.Pods)
}

func (w *Workload) title() string { return w.Kind + " " + w.Name }
