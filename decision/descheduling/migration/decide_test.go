package migration

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// refusedOnce is a job whose pod a PodDisruptionBudget keeps, after some attempts.
func refusedOnce(attempts int) cluster {
	c := start(schedulingv1alpha1.PodMigrationJobModeReservationFirst)
	args := DefaultArgs()
	c.Job.Spec.TTL = &metav1.Duration{Duration: time.Hour}
	c.Job.Annotations = map[string]string{extension.AnnotationPassedArbitration: "true"}
	c = c.step(args, whole)
	c.Reservation.Phase, c.Reservation.Node = schedulingv1alpha1.ReservationAvailable, target
	c = c.step(args, whole)
	for range attempts {
		c.Job.Status = EvictionTried(c.Job, Attempt{Disrupted: true, Message: "Cannot evict pod as it would violate the pod's disruption budget."}, c.now())
	}
	return c
}

func TestRefusedEvictionsAreRetriedWithABackoff(t *testing.T) {
	for _, test := range []struct {
		attempts  int
		wantAfter time.Duration
	}{{1, 2 * time.Second}, {2, 4 * time.Second}, {4, 16 * time.Second}, {5, 30 * time.Second}, {1000, 30 * time.Second}} {
		c := refusedOnce(test.attempts)
		verdict := Decide(c.input(DefaultArgs()), nil)
		if verdict.Action.Kind != NoAction || verdict.RequeueAt.Sub(c.now()) != test.wantAfter {
			t.Errorf("after %d refusals: action %q, next step after %s, want none and %s", test.attempts, verdict.Action.Kind, verdict.RequeueAt.Sub(c.now()), test.wantAfter)
		}
		in := c.input(DefaultArgs())
		in.Now = verdict.RequeueAt
		if again := Decide(in, nil); again.Action != (Action{Kind: EvictPod, UID: podUID, Policy: Eviction}) {
			t.Errorf("after the backoff: action %+v, want an eviction", again.Action)
		}
		if got := Condition(&verdict.Status, schedulingv1alpha1.PodMigrationJobConditionEviction).Attempts; got != int32(test.attempts) {
			t.Errorf("%d attempts are counted, want %d", got, test.attempts)
		}
	}
}

func TestTheTraceNamesEachGateWithItsClock(t *testing.T) {
	c := refusedOnce(3)
	var trace Trace
	in := c.input(DefaultArgs())
	verdict := Decide(in, &trace)
	deadline := created.Add(time.Hour)
	refusal := "the eviction was refused, attempt 3: Cannot evict pod as it would violate the pod's disruption budget."
	want := Trace{Created: created, Deadline: deadline, Gates: []Gate{
		{Name: "Abort", State: Passed},
		{Name: "Arbitration", State: Passed},
		{Name: "Pod", State: Passed},
		{Name: "ReservationCreated", State: Passed, Since: created, Message: `reservation "job" is created`},
		{Name: "ReservationScheduled", State: Passed, Since: created, Message: `reservation "job" is on node "target"`},
		{Name: "TargetNode", State: Passed},
		{Name: "Eviction", State: Waiting, Since: created, Deadline: deadline, RetryAt: created.Add(8 * time.Second), Reason: "Evicting", Message: refusal, Attempts: 3},
		{Name: "ReservationBound", State: NotReached},
		{Name: "BoundPodReady", State: NotReached},
	}}
	if diff := cmp.Diff(want, trace); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if got, want := trace.Message(verdict), "at gate Eviction until 2026-05-01T13:00:00Z: "+refusal; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	in.Now = deadline
	verdict = Decide(in, &trace)
	if got, want := trace.Message(verdict), "Failed, reason Timeout: timed out after 1h0m0s: "+refusal; got != want {
		t.Errorf("message at the deadline %q, want %q", got, want)
	}
}

func TestThePolicyIsThatOfThePodOrOfTheDescheduler(t *testing.T) {
	for _, test := range []struct {
		name       string
		pod        EvictionPolicy
		args, want EvictionPolicy
	}{
		{name: "of the descheduler", args: Delete, want: Delete},
		{name: "of the pod", pod: SoftEviction, args: Delete, want: SoftEviction},
		{name: "of the descheduler, when that of the pod is unknown", pod: "Kill", args: Eviction, want: Eviction},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := refusedOnce(0)
			c.Pod.Policy = test.pod
			args := DefaultArgs()
			args.EvictionPolicy = test.args
			if got := Decide(c.input(args), nil).Action; got != (Action{Kind: EvictPod, UID: podUID, Policy: test.want}) {
				t.Errorf("action %+v, want policy %q", got, test.want)
			}
		})
	}
	c := refusedOnce(0)
	c.Pod.Policy, c.Pod.SoftEvicted = SoftEviction, true
	if got := Decide(c.input(DefaultArgs()), nil); got.Action.Kind != NoAction || got.RequeueAt != Deadline(c.Job, DefaultArgs()) {
		t.Errorf("a pod that is asked to leave already: %+v, want to wait until the deadline", got.Action)
	}
}

func TestPodsWithoutAHomeAreRefused(t *testing.T) {
	for _, test := range []struct {
		name       string
		change     func(*cluster)
		wantPhase  schedulingv1alpha1.PodMigrationJobPhase
		wantReason string
	}{
		{name: "a pod without a controller", change: func(c *cluster) { c.Pod.Controlled = false }, wantPhase: "Failed", wantReason: "ForbiddenMigratePod"},
		{name: "a pod of a scheduler that knows no Reservations", change: func(c *cluster) { c.Pod.Scheduler = "default-scheduler" }, wantPhase: "Failed", wantReason: "ForbiddenMigratePod"},
		{name: "no pod", change: func(c *cluster) { c.Pod = nil }, wantPhase: "Failed", wantReason: "MissingPod"},
		{name: "another pod of the name", change: func(c *cluster) { c.Pod.UID = "other" }, wantPhase: "Failed", wantReason: "MissingPod"},
		{name: "a pod that is being deleted", change: func(c *cluster) { c.Pod.Terminating = true }, wantPhase: "Failed", wantReason: "MissingPod"},
		{name: "no reference", change: func(c *cluster) { c.Job.Spec.PodRef = nil }, wantPhase: "Failed", wantReason: "InvalidPodRef"},
		{name: "a reservation of the job's name that is not its own", change: func(c *cluster) {
			c.Reservation = &Reservation{Name: string(jobUID), UID: "theirs"}
		}, wantPhase: "Failed", wantReason: "FailedCreateReservation"},
		{name: "a job that is being deleted", change: func(c *cluster) { c.Job.DeletionTimestamp = new(metav1.NewTime(created)) }, wantPhase: "Aborted", wantReason: "AbortedByUser"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start("")
			c.Job.Annotations = map[string]string{extension.AnnotationPassedArbitration: "true"}
			test.change(&c)
			verdict := Decide(c.input(DefaultArgs()), nil)
			if got := verdict.Status; got.Phase != test.wantPhase || got.Reason != test.wantReason || verdict.Action.Kind != NoAction {
				t.Errorf("phase %s, reason %s, action %q: %s; want %s, %s and none", got.Phase, got.Reason, verdict.Action.Kind, got.Message, test.wantPhase, test.wantReason)
			}
		})
	}
}

func TestAFinishedPodNeedsNoReservation(t *testing.T) {
	c := start(schedulingv1alpha1.PodMigrationJobModeReservationFirst)
	c.Job.Annotations = map[string]string{extension.AnnotationPassedArbitration: "true"}
	c.Pod.Finished, c.Pod.Controlled = true, false
	c = c.step(DefaultArgs(), whole).step(DefaultArgs(), whole)
	if c.Pod == nil || !c.Pod.Terminating || c.Reservation != nil {
		t.Fatalf("pod %+v, reservation %+v, want an eviction without a reservation", c.Pod, c.Reservation)
	}
	c.Pod = nil
	if c = c.step(DefaultArgs(), whole); c.Job.Status.Phase != schedulingv1alpha1.PodMigrationJobSucceeded {
		t.Errorf("status %+v, want success", c.Job.Status)
	}
}

func TestAClockThatIsBehindDoesNotMakeAJobLive(t *testing.T) {
	c := refusedOnce(3)
	in := c.input(DefaultArgs())
	in.Now = created.AddDate(-1, 0, 0)
	if verdict := Decide(in, nil); verdict.RequeueAt.After(created.Add(time.Hour)) {
		t.Errorf("next step at %s, want it before the deadline", verdict.RequeueAt)
	}
	in.Now = created.AddDate(1, 0, 0)
	if verdict := Decide(in, nil); verdict.Status.Reason != schedulingv1alpha1.PodMigrationJobReasonTimeout || verdict.Action.Kind != NoAction {
		t.Errorf("status %+v, action %q, want a timeout", verdict.Status, verdict.Action.Kind)
	}
}

// TestNoInputPanics: users can write anything into a status.
func TestNoInputPanics(t *testing.T) {
	conditions := []schedulingv1alpha1.PodMigrationJobConditionType{"ReservationCreated", "ReservationScheduled", "Eviction", "PodScheduled", "ReservationBound", "BoundPodReady", "Preemption"}
	phases := []schedulingv1alpha1.PodMigrationJobPhase{"", "Pending", "Running", "Succeeded", "Failed", "Aborted", "Other"}
	uids := []types.UID{"", podUID, "other"}
	rapid.Check(t, func(t *rapid.T) {
		flag := rapid.Bool()
		c := start(rapid.SampledFrom([]schedulingv1alpha1.PodMigrationJobMode{"", "ReservationFirst", "EvictDirectly", "Other"}).Draw(t, "mode"))
		c.Job.Spec.PodRef.UID = rapid.SampledFrom(uids).Draw(t, "podRef")
		c.Job.Status.Phase = rapid.SampledFrom(phases).Draw(t, "phase")
		c.Job.Annotations = map[string]string{extension.AnnotationPassedArbitration: rapid.SampledFrom([]string{"true", ""}).Draw(t, "arbitrated")}
		for _, condition := range conditions {
			if flag.Draw(t, string(condition)) {
				c.Job.Status.Conditions = append(c.Job.Status.Conditions, schedulingv1alpha1.PodMigrationJobCondition{
					Type: condition, Status: rapid.SampledFrom([]schedulingv1alpha1.PodMigrationJobConditionStatus{"True", "False", ""}).Draw(t, "status"), Attempts: rapid.Int32().Draw(t, "attempts"),
				})
			}
		}
		if flag.Draw(t, "replaced") {
			c.Job.Status.PodRef = &corev1.ObjectReference{Name: "new", UID: "new"}
		}
		if flag.Draw(t, "no pod") {
			c.Pod = nil
		}
		if flag.Draw(t, "reservation") {
			c.Reservation = &Reservation{Name: "job", UID: "r", Owned: flag.Draw(t, "owned"), Terminating: flag.Draw(t, "terminating"), Node: rapid.SampledFrom([]string{"", home, target}).Draw(t, "node"),
				Phase: rapid.SampledFrom([]schedulingv1alpha1.ReservationPhase{"", "Pending", "Available", "Succeeded", "Waiting", "Failed"}).Draw(t, "reservation phase")}
		}
		verdict := Decide(c.input(DefaultArgs()), &Trace{})
		if verdict.Action.Kind == DeleteReservation && !c.Reservation.Owned {
			t.Fatalf("a reservation of somebody else is deleted")
		}
		if verdict.Action.Kind == EvictPod && (verdict.Action.UID != c.Job.Spec.PodRef.UID || verdict.Action.UID == "") {
			t.Fatalf("pod %q is evicted, the job is for %q", verdict.Action.UID, c.Job.Spec.PodRef.UID)
		}
	})
}

func TestTheReservationIsForThePodThatComesNext(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "web-1", UID: podUID, Labels: map[string]string{"app": "web"},
			Annotations:     map[string]string{extension.AnnotationReservationAllocated: `{"name":"old"}`, "kept": "yes"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "rs", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: home, SchedulerName: "koord-scheduler", Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}}, {},
			}},
		}}},
	}
	before, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	job := start("").Job
	got := NewReservation(job, pod, DefaultArgs(), created)
	spec := pod.Spec.DeepCopy()
	spec.NodeName, spec.PreemptionPolicy = "", new(corev1.PreemptNever)
	other := []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{home}}}
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields = other
	want := &schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{
			Name:            "job",
			Labels:          map[string]string{"app.kubernetes.io/created-by": "koord-descheduler", "scheduling.koordinator.sh/reservation-order": "1777636800000"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "scheduling.koordinator.sh/v1alpha1", Kind: "PodMigrationJob", Name: "job", UID: jobUID, Controller: new(true)}},
		},
		Spec: schedulingv1alpha1.ReservationSpec{
			Template: &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"kept": "yes"}}, Spec: *spec},
			Owners: []schedulingv1alpha1.ReservationOwner{{Controller: &schedulingv1alpha1.ReservationControllerReference{
				OwnerReference: pod.OwnerReferences[0], Namespace: "default",
			}}},
			TTL: &metav1.Duration{Duration: ttlTicks*tick + 10*time.Second}, AllocateOnce: new(true),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reservation (-want +got):\n%s", diff)
	}
	if after, _ := json.Marshal(pod); string(after) != string(before) {
		t.Error("the pod was modified")
	}
	job.Spec.ReservationOptions = &schedulingv1alpha1.PodMigrateReservationOptions{Template: &schedulingv1alpha1.ReservationTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Name: "mine", Labels: map[string]string{"team": "a"}},
		Spec:       schedulingv1alpha1.ReservationSpec{TTL: &metav1.Duration{Duration: time.Hour}, AllocateOnce: new(false)},
	}}
	pod.Spec.NodeName = ""
	got = NewReservation(job, pod, DefaultArgs(), created)
	if got.Name != "job" || got.Labels["team"] != "a" || got.Spec.TTL.Duration != time.Hour || !*got.Spec.AllocateOnce || got.Spec.Owners[0].Object.UID != podUID {
		t.Errorf("reservation by the template of the job: %+v", got)
	}
}

func TestAJobListsThePodsThatWerePreemptedForIt(t *testing.T) {
	args := DefaultArgs()
	c := preempting()
	c.Job.Annotations = map[string]string{extension.AnnotationPassedArbitration: "true"}
	c = c.step(args, whole) // creates the reservation
	c.Reservation.Unschedulable = "0/2 nodes are available"
	c = c.step(args, whole)
	if got := c.Job.Status; got.Reason != schedulingv1alpha1.PodMigrationJobReasonPreempting || len(got.PreemptedPodsRef) != 0 {
		t.Fatalf("status %+v, want that it waits for preemption", got)
	}
	read := ReservationOf(&schedulingv1alpha1.Reservation{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		extension.AnnotationReservationPreempted: `[{"namespace":"batch","name":"a","uid":"a"},{"namespace":"batch","name":"b","uid":"b"}]`,
	}}}, c.Job)
	for _, preempted := range [][]corev1.ObjectReference{read.Preempted[:1], read.Preempted, nil} { // as of a cache that is behind
		c.Reservation.Preempted = preempted
		c = c.step(args, whole)
	}
	c.Reservation.Phase, c.Reservation.Node, c.Reservation.Unschedulable = schedulingv1alpha1.ReservationAvailable, target, ""
	c = c.step(args, whole)
	want := []corev1.ObjectReference{
		{Kind: "Pod", APIVersion: "v1", Namespace: "batch", Name: "a", UID: "a"}, {Kind: "Pod", APIVersion: "v1", Namespace: "batch", Name: "b", UID: "b"},
	}
	if diff := cmp.Diff(want, c.Job.Status.PreemptedPodsRef); diff != "" {
		t.Errorf("preempted pods (-want +got):\n%s", diff)
	}
	if got := Condition(&c.Job.Status, schedulingv1alpha1.PodMigrationJobConditionPreemption); got == nil || got.Reason != schedulingv1alpha1.PodMigrationJobReasonPreemptComplete {
		t.Errorf("condition %+v, want PreemptComplete", got)
	}
}

func TestOnlyPreemptionOptionsLetPodsBeEvictedForTheReservation(t *testing.T) {
	job, pod := preempting().Job, &corev1.Pod{Spec: corev1.PodSpec{NodeName: home, Priority: new(int32(5500))}}
	reserved := NewReservation(job, pod, DefaultArgs(), created)
	if policy := reserved.Spec.Template.Spec.PreemptionPolicy; policy != nil {
		t.Errorf("preemptionPolicy %s with preemptionOptions, want that of the pod, which has none", *policy)
	}
	if got := reserved.Labels[extension.LabelPodPriority]; got != "5500" {
		t.Errorf("priority %q, want that of the pod, so that pods of a higher one are spared", got)
	}
	job.Spec.ReservationOptions.Template = &schedulingv1alpha1.ReservationTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{extension.LabelPodPriority: "7"}}}
	if got := NewReservation(job, pod, DefaultArgs(), created).Labels[extension.LabelPodPriority]; got != "7" {
		t.Errorf("priority %q, want 7 as the template says", got)
	}
	job.Spec.ReservationOptions.PreemptionOptions = nil
	reserved = NewReservation(job, pod, DefaultArgs(), created)
	if policy := reserved.Spec.Template.Spec.PreemptionPolicy; policy == nil || *policy != corev1.PreemptNever {
		t.Errorf("preemptionPolicy %v without preemptionOptions, want Never", policy)
	}
}

func TestAPlannedMoveGoesToItsTarget(t *testing.T) {
	in := start("")
	in.Job.Annotations = map[string]string{extension.AnnotationTargetNode: "target"}
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: home}}
	reserved := NewReservation(in.Job, pod, DefaultArgs(), created)
	want := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
		{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{home}},
		{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"target"}},
	}}}}
	if diff := cmp.Diff(want, reserved.Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution); diff != "" {
		t.Errorf("required nodes (-want +got):\n%s", diff)
	}
}
