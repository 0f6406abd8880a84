package evacuation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const (
	// startWithin is how long an eviction with policy Preferred waits for a job to start: koord-descheduler may not run, or its limits
	// hold the job back.
	startWithin = 2 * time.Minute
	// retryAfter is the time from the end of a job without success to the next one.
	retryAfter = 5 * time.Minute
)

// Verdict is the answer to an eviction.
type Verdict struct {
	// Allowed lets the eviction take place now. Otherwise it is to be tried again.
	Allowed bool
	// Create is the name of the job to create; empty for none. It is the same for everyone who knows the same jobs, so that two evictions
	// at the same time create one job.
	Create string
	// Message says why the eviction has to wait, and Warning what the user should know of one that is allowed; either may be empty.
	Message, Warning string
}

// Decide answers an eviction that is not one of koord-descheduler or of a node agent.
func Decide(in Input) Verdict {
	switch policy := in.Pod.Policy; {
	case policy == "" || in.Pod.Leaving:
		return Verdict{Allowed: true}
	case policy != Preferred && policy != Required:
		return allow("annotation %s is %q, which is neither %s nor %s: the pod is evicted without a reservation",
			extension.AnnotationMigrateOnEviction, policy, Preferred, Required)
	case !in.Pod.Controlled:
		return allow("the pod has no controller that would replace it: it is evicted without a reservation")
	}
	job := in.latest()
	switch {
	case job == nil:
		return in.create("")
	case !job.Finished:
		return in.wait(job)
	case job.Phase == schedulingv1alpha1.PodMigrationJobSucceeded || !in.Now.Before(job.Ended.Add(retryAfter)):
		return in.create(string(job.UID))
	}
	return in.failed(job)
}

// wait answers while a job is under way.
func (in *Input) wait(job *Job) Verdict {
	if in.Pod.Policy == Preferred && !job.Started && !in.Now.Before(job.Created.Add(startWithin)) {
		return allow("PodMigrationJob %s has not started within %s%s: the pod is evicted without a reservation", job.Name, startWithin, because(job))
	}
	return Verdict{Message: fmt.Sprintf("PodMigrationJob %s moves the pod%s", job.Name, because(job))}
}

// failed answers soon after a job ended without having moved the pod.
func (in *Input) failed(job *Job) Verdict {
	if in.Pod.Policy == Preferred {
		return allow("PodMigrationJob %s ended as %s%s: the pod is evicted without a reservation", job.Name, job.Phase, because(job))
	}
	return Verdict{Message: fmt.Sprintf("PodMigrationJob %s ended as %s%s; the next one is created from %s on", job.Name, job.Phase, because(job),
		job.Ended.Add(retryAfter).UTC().Format(time.RFC3339))}
}

// create asks for a job after the one with a UID.
func (in *Input) create(after string) Verdict {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s", in.Pod.UID, after))
	name := "eviction-" + hex.EncodeToString(sum[:8])
	return Verdict{Create: name, Message: fmt.Sprintf("PodMigrationJob %s moves the pod", name)}
}

func allow(format string, args ...any) Verdict {
	return Verdict{Allowed: true, Warning: fmt.Sprintf(format, args...)}
}

func because(job *Job) string {
	if job.Message == "" {
		return ""
	}
	return ": " + job.Message
}
