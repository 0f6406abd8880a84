package arbitration

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Home is where the pod that replaces the pod of a job is to go, as long as it has no node. It is empty once it has one.
type Home string

const (
	// ReservedHome is the Reservation of the job, which any pod of the same controller may use.
	ReservedHome Home = "Reserved"
	// AnyHome is any node: the job makes no Reservation, or one that its own pod alone may use.
	AnyHome Home = "Any"
)

// homeOf is the home that a job needs for a pod, in a mode for jobs that have none.
func homeOf(job *schedulingv1alpha1.PodMigrationJob, defaultMode schedulingv1alpha1.PodMigrationJobMode) Home {
	mode := job.Spec.Mode
	if mode == "" {
		mode = defaultMode
	}
	home := ReservedHome
	if node, recorded := job.Annotations[extension.AnnotationSourceNode]; mode == schedulingv1alpha1.PodMigrationJobModeEvictionDirectly || recorded && node == "" {
		home = AnyHome // a pod without a node has a Reservation that it alone may use
	}
	if StateOf(job) == Finished {
		return ""
	}
	for _, condition := range job.Status.Conditions {
		bound := condition.Type == schedulingv1alpha1.PodMigrationJobConditionReservationBound
		if bound && condition.Status == schedulingv1alpha1.PodMigrationJobConditionStatusTrue {
			return ""
		}
	}
	return home
}

// homes are the names of jobs whose replacements have no node yet, by what they are to use. Of several, one is kept.
type homes map[Home]string

// add keeps the first name, so that the order of jobs does not matter.
func (h homes) add(job *Job) {
	if name, found := h[job.Home]; !found || job.Name < name {
		h[job.Home] = job.Name
	}
}

// inTheWay is a job of which the replacement could use the Reservation of another job, or which has the Reservation that the replacement
// of the other job could use; empty when there is none.
func (h homes) inTheWay(of Home) string {
	if name := h[ReservedHome]; name != "" {
		return name
	}
	if of == ReservedHome {
		return h[AnyHome]
	}
	return ""
}

// replacement lets one Reservation of a workload at a time wait for its pod. The pods of one controller may use each other's Reservations:
// the pod that replaces that of one job could use the Reservation of another one, which has not evicted its pod. Then the first job would
// wait for its pod in vain, and the second would have to give up. Other pods that wait for a node would use the Reservation as well.
func (in *Input) replacement(job *Job, slots *slots) Outcome {
	if job.Home == "" || job.Workload == "" {
		return Outcome{}
	}
	for _, open := range []homes{slots.homes[job.Workload], slots.unattributedHomes[job.Namespace]} {
		if name := open.inTheWay(job.Home); name != "" {
			return waiting(PendingReplacement, fmt.Sprintf(
				"job %s moves another pod of the workload: until its replacement has a node, either pod could use the Reservation of the other", name))
		}
	}
	workload := in.Workloads[job.Workload]
	if count := workload.withoutNode(); count > 0 && job.Home == ReservedHome {
		outcome := waiting(PendingReplacement, fmt.Sprintf("%d pods of %s have no node yet, and could use the Reservation of the job", count, workload.title()))
		outcome.Used = count
		return outcome
	}
	return Outcome{}
}

// withoutNode counts the pods that wait for a node, or, where that is more, those that are still to be created.
func (w *Workload) withoutNode() int {
	waiting, placed := 0, 0
	for _, pod := range w.Pods {
		switch {
		case pod.Leaving:
		case pod.Pending:
			waiting++
		default:
			placed++
		}
	}
	if !w.Known {
		return waiting
	}
	return max(waiting, w.Replicas-placed)
}

func (s *slots) open(job *Job) {
	if job.Home == "" {
		return
	}
	if job.Unattributed {
		entryOf(s.unattributedHomes, job.Namespace).add(job)
	} else if job.Workload != "" {
		entryOf(s.homes, job.Workload).add(job)
	}
}

func entryOf[K types.UID | string](of map[K]homes, key K) homes {
	if of[key] == nil {
		of[key] = homes{}
	}
	return of[key]
}
