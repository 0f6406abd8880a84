package kueueview

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/finding"
)

// State is how Kueue stands to a pod or a Job.
type State string

const (
	// Released means that Kueue holds nothing back: it has admitted the object, or has nothing to do with it.
	Released State = "Released"
	// Admitted means that Kueue has admitted the object, and has not yet removed the gate or the suspension.
	Admitted State = "Admitted"
	// QuotaPending means that Kueue has not reserved quota of a ClusterQueue.
	QuotaPending State = "QuotaPending"
	// ChecksPending means that quota is reserved, and admission checks are not ready.
	ChecksPending State = "ChecksPending"
	// Deactivated means that spec.active of the Workload is false.
	Deactivated State = "Deactivated"
	// NoWorkload means that Kueue has not made a Workload.
	NoWorkload State = "NoWorkload"
	// Absent means that the cluster does not have Kueue.
	Absent State = "Absent"
)

// Conditions of a Workload, and the state of an admission check that is passed.
const (
	quotaReserved = "QuotaReserved"
	admitted      = "Admitted"
	evicted       = "Evicted"
	checkReady    = "Ready"
)

// Verdict is whether Kueue holds an object back.
type Verdict struct {
	State State
	// Held is true while Kueue keeps the object from being scheduled.
	Held bool
	// Code of the finding; empty where nothing is held.
	Code finding.Code
}

// Decide says whether Kueue holds back a pod or a Job. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	trace.record(in)
	state := stateOf(in)
	switch state {
	case Released:
		return Verdict{State: state}
	case Absent, NoWorkload:
		return Verdict{State: state, Held: true, Code: finding.KueueUnresponsive}
	}
	return Verdict{State: state, Held: true, Code: finding.KueueNotAdmitted}
}

func stateOf(in Input) State {
	w := in.Workload
	switch {
	case !in.Withheld:
		return Released
	case w == nil && in.Kind == Job && in.Queue == "":
		return Released // somebody else suspended it
	case !in.Served:
		return Absent
	case w == nil:
		return NoWorkload
	case w.Spec.Active != nil && !*w.Spec.Active:
		return Deactivated
	case w.Admitted():
		return Admitted
	case is(w, quotaReserved):
		return ChecksPending
	}
	return QuotaPending
}

// Admitted says whether Kueue has admitted a Workload.
func (w *Workload) Admitted() bool { return is(w, admitted) }

func is(w *Workload, condition string) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, condition)
}

// said is what a condition of the Workload says while it has a status; empty where it has another.
func said(w *Workload, condition string, status metav1.ConditionStatus) string {
	if found := meta.FindStatusCondition(w.Status.Conditions, condition); found != nil && found.Status == status {
		return found.Message
	}
	return ""
}
