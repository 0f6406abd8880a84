package reservation

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestNext(t *testing.T) {
	type object = schedulingv1alpha1.Reservation
	ended := func(phase schedulingv1alpha1.ReservationPhase, ago time.Duration) func(*object) {
		return func(r *object) {
			r.Status.Phase = phase
			r.CreationTimestamp = metav1.NewTime(now.Add(-1000 * time.Hour))
			r.Status.Conditions = []schedulingv1alpha1.ReservationCondition{{Type: "Ready", LastTransitionTime: metav1.NewTime(now.Add(-ago))}}
		}
	}
	tests := map[string]struct {
		change     func(*object)
		gone       bool
		users      []*corev1.Pod
		keep       bool
		wantPhase  schedulingv1alpha1.ReservationPhase // of the status written, empty when none is
		wantReason string
		wantOwners int
		wantDelete bool
		wantAfter  time.Duration
	}{
		"one without a ttl lives a day": {wantAfter: 23 * time.Hour},
		"a ttl of nothing never ends":   {change: func(r *object) { r.Spec.TTL = &metav1.Duration{} }},
		"a ttl that is over":            {change: func(r *object) { r.Spec.TTL = &metav1.Duration{Duration: time.Hour} }, wantPhase: "Failed", wantReason: "Expired", wantAfter: 24 * time.Hour},
		"a date wins over the ttl": {change: func(r *object) {
			r.Spec.TTL = &metav1.Duration{Duration: time.Minute}
			r.Spec.Expires = &metav1.Time{Time: now.Add(time.Minute)}
		}, wantAfter: time.Minute},
		"a date that is over": {change: func(r *object) { r.Spec.Expires = &metav1.Time{Time: now} }, wantPhase: "Failed", wantReason: "Expired", wantAfter: 24 * time.Hour},
		"a pending one expires, too": {change: func(r *object) {
			r.Status = schedulingv1alpha1.ReservationStatus{}
			r.Spec.Expires = &metav1.Time{Time: now}
		}, wantPhase: "Failed", wantReason: "Expired", wantAfter: 24 * time.Hour},
		"its node is gone":                  {gone: true, wantPhase: "Failed", wantReason: "Expired", wantAfter: 24 * time.Hour},
		"a pending one has no node to lose": {gone: true, change: func(r *object) { r.Status = schedulingv1alpha1.ReservationStatus{} }, wantAfter: 23 * time.Hour},
		"its users are written down":        {users: []*corev1.Pod{newPod("b", "cpu", "1"), newPod("a", "cpu", "1")}, wantPhase: "Available", wantOwners: 2, wantAfter: 23 * time.Hour},
		"what is written down is not written": {users: []*corev1.Pod{newPod("a", "cpu", "1")}, change: func(r *object) {
			r.Status.CurrentOwners = []corev1.ObjectReference{{Namespace: "default", Name: "a", UID: "a"}}
			r.Status.Allocated = list("cpu", "1")
		}, wantAfter: 23 * time.Hour},
		"users that left are forgotten": {change: func(r *object) {
			r.Status.CurrentOwners = []corev1.ObjectReference{{Name: "a"}}
			r.Status.Allocated = list("cpu", "1")
		}, wantPhase: "Available", wantAfter: 23 * time.Hour},
		"one that is used once ends with its user": {change: func(r *object) { r.Spec.AllocateOnce = nil }, users: []*corev1.Pod{newPod("a", "cpu", "1")}, wantPhase: "Succeeded", wantReason: "Succeeded", wantOwners: 1, wantAfter: 24 * time.Hour},
		"one that ended is kept for a day":         {change: ended("Failed", 20*time.Hour), wantAfter: 4 * time.Hour},
		"and deleted then":                         {change: ended("Succeeded", 24*time.Hour), wantDelete: true},
		"unless that is switched off":              {change: ended("Succeeded", 240*time.Hour), keep: true},
		"one that is being deleted is left alone": {change: func(r *object) {
			r.DeletionTimestamp = &metav1.Time{Time: now}
			r.Spec.Expires = &metav1.Time{Time: now}
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := newObject("r", "cpu", "4")
			if test.change != nil {
				test.change(object)
			}
			collect := 24 * time.Hour
			if test.keep {
				collect = 0
			}
			step := Next(Life{Object: object, NodeGone: test.gone, Users: usersOf(test.users...), Now: now, Collect: collect})
			if step.Delete != test.wantDelete || step.After != test.wantAfter {
				t.Errorf("delete %v, want %v; after %v, want %v", step.Delete, test.wantDelete, step.After, test.wantAfter)
			}
			if step.Status == nil || test.wantPhase == "" {
				if (step.Status == nil) != (test.wantPhase == "") {
					t.Errorf("status %+v, want phase %q", step.Status, test.wantPhase)
				}
				return
			}
			if step.Status.Phase != test.wantPhase || len(step.Status.CurrentOwners) != test.wantOwners {
				t.Errorf("phase %s, owners %v", step.Status.Phase, step.Status.CurrentOwners)
			}
			if test.wantReason != "" && (len(step.Status.Conditions) != 1 || step.Status.Conditions[0].Reason != test.wantReason || step.Status.Conditions[0].Status != "False") {
				t.Errorf("conditions %+v, want reason %s", step.Status.Conditions, test.wantReason)
			}
			written := object.DeepCopy()
			written.Status = *step.Status
			again := Next(Life{Object: written, NodeGone: test.gone, Users: usersOf(test.users...), Now: now, Collect: collect})
			if again.Status != nil || again.Delete {
				t.Errorf("a second look writes again: %+v", again)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	object := newObject("r", "cpu", "4")
	object.Status = schedulingv1alpha1.ReservationStatus{}
	status, changed := Unplaced(object, "0/3 nodes are available", now)
	if !changed || status.Phase != "Pending" || status.Conditions[0].Reason != "Unschedulable" {
		t.Fatalf("changed %v, status %+v", changed, status)
	}
	object.Status = *status
	if _, changed := Unplaced(object, "0/3 nodes are available", now.Add(time.Minute)); changed {
		t.Error("the same condition is written again")
	}
	later, changed := Unplaced(object, "0/4 nodes are available", now.Add(time.Minute))
	if !changed || !later.Conditions[0].LastTransitionTime.Time.Equal(now) || !later.Conditions[0].LastProbeTime.Time.Equal(now.Add(time.Minute)) {
		t.Errorf("changed %v, conditions %+v", changed, later.Conditions)
	}
	placed := Placed(object, "node-1", now.Add(time.Hour))
	if placed.Phase != "Available" || placed.NodeName != "node-1" || len(placed.Conditions) != 2 || placed.Conditions[0].Status != "True" || !placed.Conditions[0].LastTransitionTime.Time.Equal(now.Add(time.Hour)) {
		t.Errorf("status %+v", placed)
	}
	if diff := cmp.Diff(AmountsOf(list("cpu", "4")), AmountsOf(placed.Allocatable)); diff != "" {
		t.Error(diff)
	}
}

func TestCensus(t *testing.T) {
	census := &Census{}
	if got := census.Summary(); got != "no reservation matches the owner" || census.Reasons() != nil {
		t.Errorf("%q, %v", got, census.Reasons())
	}
	pod := demandOf(t, newPod("p", "cpu", "4"))
	once := newObject("a", "cpu", "4")
	once.Spec.AllocateOnce = nil
	for _, name := range []string{"a", "b"} {
		once.Name = name
		r := compile(t, once)
		census.Add(r, Match(pod, r, Use{Users: 1}), 0)
	}
	small := compile(t, newObject("c", "cpu", "1"))
	census.Add(small, Fit(pod, small, Use{}, Room{Allocatable: Amounts{"cpu": 2000}}, nil), 0)
	want := []string{
		"2 Reservation(s) reservation has allocateOnce enabled and has already been allocated",
		"1 Reservation(s) for node reason that Insufficient cpu by node", "3 Reservation(s) matched owner total",
	}
	if diff := cmp.Diff(want, census.Reasons()); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	refused := []Refused{
		{Code: finding.ReservationConsumed, Reason: ReasonAllocatedOnce, Names: []string{"a", "b"}},
		{Code: finding.ReservationNodeInsufficient, Reason: "for node reason that Insufficient cpu by node", Names: []string{"c"}},
	}
	if diff := cmp.Diff(refused, census.Refused()); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if got, want := census.Summary(), "3 reservations match the owner: 2 consumed, 1 on a full node"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	fits := &Census{}
	fits.Add(small, Refusal{}, 100)
	if got, want := fits.Summary(), "1 reservation matches the owner: 1 usable on node-1"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
}

func TestArgs(t *testing.T) {
	args := &Args{}
	SetDefaults(args)
	if problems := Validate(args); len(problems) > 0 {
		t.Fatal(problems)
	}
	wrong := &Args{MinCandidateNodesPercentage: new(int32(101)), ControllerWorkers: new(int64(0)), GCDurationSeconds: new(int64(-1)), ResyncIntervalSeconds: new(int64(0)),
		IgnoredResources: []corev1.ResourceName{"a b"}, IgnoredResourceGroups: []string{"A"}, PreAllocationConfig: &PreAllocationConfig{ClusterLabelKey: "/"}}
	SetDefaults(wrong)
	text := Validate(wrong).ToAggregate().Error()
	for _, want := range []string{"minCandidateNodesPercentage", "controllerWorkers", "gcDurationSeconds", "resyncIntervalSeconds", "ignoredResources[0]", "ignoredResourceGroups[0]", "preAllocationConfig.clusterLabelKey"} {
		if !strings.Contains(text, want) {
			t.Errorf("error %q does not name %s", text, want)
		}
	}
}

func TestPreAllocation(t *testing.T) {
	pod := func(name, priority string, requests ...string) *corev1.Pod {
		pod := newPod(name, requests...)
		pod.Annotations["pod.koordinator.sh/pre-allocatable-priority"] = priority
		return pod
	}
	foreign := pod("x", "", "cpu", "4")
	foreign.Labels = map[string]string{"pod.koordinator.sh/is-pre-allocatable": "true"}
	tests := map[string]struct {
		policy    schedulingv1alpha1.ReservationAllocatePolicy
		mode      *schedulingv1alpha1.PreAllocationPolicy
		cluster   bool
		pods      []*corev1.Pod
		requested int64
		want      []string
		wantCode  string
		wantNone  bool
	}{
		"room of its own needs nobody":      {policy: "Restricted", pods: []*corev1.Pod{pod("a", "", "cpu", "4")}, requested: 6000},
		"the pod that fills it best":        {policy: "Restricted", pods: []*corev1.Pod{pod("a", "", "cpu", "3"), pod("b", "", "cpu", "4")}, requested: 10000, want: []string{"b"}},
		"priority goes first":               {policy: "Restricted", pods: []*corev1.Pod{pod("a", "", "cpu", "4"), pod("b", "9", "cpu", "4")}, requested: 10000, want: []string{"b"}},
		"one is not enough":                 {policy: "Restricted", pods: []*corev1.Pod{pod("a", "", "cpu", "2"), pod("b", "", "cpu", "2")}, requested: 10000, wantNone: true},
		"several are":                       {policy: "Restricted", mode: &schedulingv1alpha1.PreAllocationPolicy{EnableMultiple: true}, pods: []*corev1.Pod{pod("a", "", "cpu", "2"), pod("b", "", "cpu", "2"), pod("c", "", "cpu", "2")}, requested: 10000, want: []string{"a", "b"}},
		"a pod larger than it is passed by": {policy: "Restricted", pods: []*corev1.Pod{pod("a", "", "cpu", "5")}, requested: 10000, wantNone: true},
		"a pod that is no owner":            {policy: "Restricted", pods: []*corev1.Pod{foreign}, requested: 10000, wantNone: true},
		"a labelled pod of the cluster":     {policy: "Restricted", cluster: true, mode: &schedulingv1alpha1.PreAllocationPolicy{Mode: "Cluster"}, pods: []*corev1.Pod{foreign, pod("a", "", "cpu", "4")}, requested: 10000, want: []string{"x"}},
		"the cluster's, not enabled":        {policy: "Restricted", mode: &schedulingv1alpha1.PreAllocationPolicy{Mode: "Cluster"}, wantCode: "KOORD1163"},
		"a policy that spills":              {policy: "Aligned", wantCode: "KOORD1163"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := newObject("r", "cpu", "4")
			object.Spec.AllocatePolicy, object.Spec.PreAllocationPolicy = test.policy, test.mode
			args := &Args{PreAllocationConfig: &PreAllocationConfig{EnableClusterMode: test.cluster}}
			SetDefaults(args)
			plan, refusal := NewPreAllocation(object, args.PreAllocationConfig)
			if string(refusal.Code) != test.wantCode || CodeOf(refusal.Reason) != refusal.Code {
				t.Fatalf("refusal %+v, want %q", refusal, test.wantCode)
			}
			if plan == nil {
				return
			}
			room := Room{Allocatable: Amounts{"cpu": 10000}, Requested: Amounts{"cpu": test.requested}}
			chosen, enough := plan.Choose(plan.Candidates(test.pods), room, nil)
			var names []string
			for _, pod := range chosen {
				names = append(names, pod.Name)
			}
			if diff := cmp.Diff(test.want, names); diff != "" || enough == test.wantNone {
				t.Errorf("enough %v; chosen (-want +got):\n%s", enough, diff)
			}
		})
	}
}
