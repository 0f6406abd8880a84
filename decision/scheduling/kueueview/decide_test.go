package kueueview

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/finding"
)

// workload is one of which quota is not reserved.
func workload(edit func(*Workload)) *Workload {
	w := &Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job-train-1a2b3"},
		Spec:       WorkloadSpec{QueueName: "jobs"},
		Status: WorkloadStatus{Conditions: []metav1.Condition{{
			Type: quotaReserved, Status: metav1.ConditionFalse, Reason: "WaitingForQuota", Message: "insufficient unused quota for kubernetes.io/batch-cpu, 250 more needed",
		}}},
	}
	if edit != nil {
		edit(w)
	}
	return w
}

// reserve is a Workload of which quota of a ClusterQueue is reserved.
func reserve(w *Workload) {
	w.Status.Admission = &Admission{ClusterQueue: "batch"}
	w.Status.Conditions = []metav1.Condition{{Type: quotaReserved, Status: metav1.ConditionTrue}}
	w.Status.AdmissionChecks = []AdmissionCheck{{Name: "budget", State: checkReady}, {Name: "capacity", State: "Pending", Message: "provisioning"}, {Name: "site"}}
}

func TestWhatKueueHolds(t *testing.T) {
	const describe = "kubectl describe workload.kueue.x-k8s.io job-train-1a2b3 -n ml"
	tests := map[string]struct {
		in          Input
		wantState   State
		wantCode    finding.Code
		wantMessage string
		wantHint    string
	}{
		"a pod without the gate": {in: Input{Kind: Pod, Served: true, Workload: workload(reserve)}, wantState: Released},
		"a Job that somebody else suspended": {
			in: Input{Kind: Job, Withheld: true, Served: true}, wantState: Released,
		},
		"a Job that somebody else suspended, without Kueue": {in: Input{Kind: Job, Withheld: true}, wantState: Released},
		"no quota left": {
			in:        Input{Kind: Job, Withheld: true, Served: true, Queue: "jobs", Workload: workload(nil), ClusterQueue: "batch"},
			wantState: QuotaPending, wantCode: finding.KueueNotAdmitted,
			wantMessage: `Kueue has not reserved quota of ClusterQueue "batch" for Workload "job-train-1a2b3": insufficient unused quota for kubernetes.io/batch-cpu, 250 more needed`,
			wantHint:    "kubectl describe clusterqueue batch",
		},
		"a Workload that Kueue has not looked at, of an unknown ClusterQueue": {
			in:        Input{Kind: Pod, Withheld: true, Served: true, Workload: workload(func(w *Workload) { w.Status.Conditions = nil })},
			wantState: QuotaPending, wantCode: finding.KueueNotAdmitted,
			wantMessage: `Kueue has not reserved quota of LocalQueue "jobs" for Workload "job-train-1a2b3"`, wantHint: describe,
		},
		"admission checks are pending": {
			in:        Input{Kind: Pod, Withheld: true, Served: true, Workload: workload(reserve), ClusterQueue: "moved"},
			wantState: ChecksPending, wantCode: finding.KueueNotAdmitted,
			wantMessage: `Kueue reserved quota of ClusterQueue "batch" for Workload "job-train-1a2b3" and waits for admission checks: capacity is Pending (provisioning), site is Pending`,
			wantHint:    describe,
		},
		"the Workload is deactivated": {
			in: Input{Kind: Job, Withheld: true, Served: true, Workload: workload(func(w *Workload) {
				w.Spec.Active = new(false)
				w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: evicted, Status: metav1.ConditionTrue, Message: "The workload is deactivated"})
			})},
			wantState: Deactivated, wantCode: finding.KueueNotAdmitted,
			wantMessage: `Kueue does not admit Workload "job-train-1a2b3", because spec.active is false: The workload is deactivated`, wantHint: describe,
		},
		"admitted a moment ago": {
			in: Input{Kind: Job, Withheld: true, Served: true, Workload: workload(func(w *Workload) {
				reserve(w)
				w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: admitted, Status: metav1.ConditionTrue})
			})},
			wantState: Admitted, wantCode: finding.KueueNotAdmitted,
			wantMessage: `Kueue has admitted Workload "job-train-1a2b3" to ClusterQueue "batch" and is about to release the Job`, wantHint: describe,
		},
		"no Workload": {
			in: Input{Kind: Pod, Withheld: true, Served: true, Queue: "jobs"}, wantState: NoWorkload, wantCode: finding.KueueUnresponsive,
			wantMessage: "Kueue has made no Workload for the pod: it is not running, or does not manage this namespace or kind",
			wantHint:    "kubectl get deployments -A -l app.kubernetes.io/name=kueue",
		},
		"no Kueue": {
			in: Input{Kind: Pod, Withheld: true, Queue: "jobs"}, wantState: Absent, wantCode: finding.KueueUnresponsive,
			wantMessage: "the pod waits for Kueue, which is not installed in this cluster", wantHint: "kubectl get deployments -A -l app.kubernetes.io/name=kueue",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			trace := &Trace{}
			got := Decide(tc.in, trace)
			want := Verdict{State: tc.wantState, Held: tc.wantCode != "", Code: tc.wantCode}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got, Decide(tc.in, nil)); diff != "" {
				t.Errorf("verdict without a trace (-with +without):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantMessage, trace.Message(got)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if got.Held {
				if diff := cmp.Diff(tc.wantHint, trace.Finding(got).Hint); diff != "" {
					t.Errorf("hint (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestTheWorkloadOfAnObject(t *testing.T) {
	created := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	of := func(name string, owner types.UID, age time.Duration) Workload {
		w := Workload{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(created.Add(-age))}}
		if owner != "" {
			w.OwnerReferences = []metav1.OwnerReference{{UID: owner}}
		}
		return w
	}
	all := []Workload{of("job", "1", time.Hour), of("job-again", "1", time.Minute), of("set", "2", 0), of("pair", "", 0)}
	tests := map[string]struct {
		object metav1.ObjectMeta
		want   string
	}{
		"the newest that it owns": {metav1.ObjectMeta{UID: "1"}, "job-again"},
		"that of its owner":       {metav1.ObjectMeta{UID: "9", OwnerReferences: []metav1.OwnerReference{{UID: "2"}}}, "set"},
		"that of its group":       {metav1.ObjectMeta{UID: "9", Labels: map[string]string{podGroupLabel: "pair"}}, "pair"},
		"none":                    {metav1.ObjectMeta{UID: "9", Name: "job"}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if w := WorkloadOf(all, &tc.object); w != nil {
				got = w.Name
			}
			if got != tc.want {
				t.Errorf("workload %q, want %q", got, tc.want)
			}
		})
	}
}
