package migration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// atSurge is a job with policy Surge whose Reservation is on a node, so that the next step is gate Surge.
func atSurge(change func(*cluster)) cluster {
	c := surging()
	c.Job.Annotations = map[string]string{extension.AnnotationPassedArbitration: "true"}
	c = c.step(DefaultArgs(), whole)
	c.Reservation.Phase, c.Reservation.Node = schedulingv1alpha1.ReservationAvailable, target
	if change != nil {
		change(&c)
	}
	return c
}

func gateNamed(t *testing.T, c cluster, name string) (Gate, Verdict) {
	t.Helper()
	var trace Trace
	verdict := Decide(c.input(DefaultArgs()), &trace)
	for _, gate := range trace.Gates {
		if gate.Name == name {
			return gate, verdict
		}
	}
	t.Fatalf("no gate %s in %+v", name, trace.Gates)
	return Gate{}, verdict
}

func TestAPodIsReplacedFirstWhereItsDeploymentAllowsThat(t *testing.T) {
	for _, test := range []struct {
		name        string
		change      func(*cluster)
		wantState   GateState
		wantMessage string
	}{
		{"a Deployment with room", nil, Waiting, "detaching the pod from its ReplicaSet, so that it is replaced before it is evicted"},
		{"no Deployment", func(c *cluster) { c.Workload = nil }, Passed, "the pod is evicted before it is replaced: it does not belong to a Deployment"},
		{
			"strategy Recreate", func(c *cluster) { c.Workload.MaxSurge = 0 }, Passed,
			`the pod is evicted before it is replaced: the strategy of Deployment "web" allows no pod more than its replicas`,
		},
		{
			"a rollout", func(c *cluster) { c.Workload.RollingOut = true }, Passed,
			`the pod is evicted before it is replaced: Deployment "web" is being rolled out`,
		},
		{
			"a pod without the label of its ReplicaSet", func(c *cluster) { c.Pod.Hashed = false }, Passed,
			"the pod is evicted before it is replaced: it has no label pod-template-hash",
		},
		{
			"a pod with a volume of its own", func(c *cluster) { c.Pod.Claims = true }, Passed,
			"the pod is evicted before it is replaced: it uses a PersistentVolumeClaim, which two pods may be unable to use at a time",
		},
		{
			"as many replaced as maxSurge allows", func(c *cluster) { c.Workload.Surging = 1 }, Waiting,
			`1 pods of Deployment "web" are being replaced, its maxSurge allows 1`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			gate, verdict := gateNamed(t, atSurge(test.change), "Surge")
			if gate.State != test.wantState || gate.Message != test.wantMessage || verdict.Action.Kind != NoAction {
				t.Errorf("gate %s: %q, action %q; want %s: %q, none", gate.State, gate.Message, verdict.Action.Kind, test.wantState, test.wantMessage)
			}
		})
	}
}

// TestWhatTheArbitratorIsTold: the answer before a job starts is the one of its gate.
func TestWhatTheArbitratorIsTold(t *testing.T) {
	for _, test := range []struct {
		name        string
		change      func(*cluster)
		want        bool
		wantRefusal string
	}{
		{"a Deployment with room", nil, true, ""},
		{"as many replaced as maxSurge allows: the job waits", func(c *cluster) { c.Workload.Surging = 1 }, true, ""},
		{"another policy", func(c *cluster) { c.Pod.Policy = Eviction }, false, ""},
		{"no Deployment", func(c *cluster) { c.Workload = nil }, false, "it does not belong to a Deployment"},
		{"a rollout", func(c *cluster) { c.Workload.RollingOut = true }, false, `Deployment "web" is being rolled out`},
		{
			"a pod with a volume of its own", func(c *cluster) { c.Pod.Claims = true }, false,
			"it uses a PersistentVolumeClaim, which two pods may be unable to use at a time",
		},
		{
			"a scheduler without Reservations", func(c *cluster) { c.Pod.Scheduler = "other" }, false,
			`scheduler "other" of the pod does not know Reservations: it is not one of schedulerNames; mode EvictDirectly evicts without one`,
		},
		{
			"an eviction without a Reservation", func(c *cluster) { c.Job.Spec.Mode = schedulingv1alpha1.PodMigrationJobModeEvictionDirectly }, false, "",
		},
		{"a pod without a node", func(c *cluster) { c.Pod.Node = "" }, false, ""},
		{"a pod that has finished", func(c *cluster) { c.Pod.Finished = true }, false, ""},
		{"a pod that is being deleted", func(c *cluster) { c.Pod.Terminating = true }, false, ""},
		{"no pod", func(c *cluster) { c.Pod = nil }, false, ""},
		{"another pod of the name", func(c *cluster) { c.Pod.UID = "another" }, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := surging()
			if test.change != nil {
				test.change(&c)
			}
			if got, refusal := ReplacedFirst(c.input(DefaultArgs())); got != test.want || refusal != test.wantRefusal {
				t.Errorf("replaced first %t: %q, want %t: %q", got, refusal, test.want, test.wantRefusal)
			}
		})
	}
}

// TestAJobThatStartedToReplaceItsPodNeverEvictsItFirst changes what it started by before it is at its gate.
func TestAJobThatStartedToReplaceItsPodNeverEvictsItFirst(t *testing.T) {
	for _, test := range []struct {
		name        string
		change      func(*cluster)
		wantMessage string
	}{
		{"a rollout", func(c *cluster) { c.Workload.RollingOut = true }, startedToReplaceFirst + `: Deployment "web" is being rolled out`},
		{"another policy", func(c *cluster) { c.Pod.Policy = Eviction }, startedToReplaceFirst + ": its policy or mode changed"},
		{
			"another mode", func(c *cluster) { c.Job.Spec.Mode = schedulingv1alpha1.PodMigrationJobModeEvictionDirectly },
			startedToReplaceFirst + ": its policy or mode changed",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := atSurge(test.change)
			c.Job.Annotations[extension.AnnotationReplaceFirst] = "true"
			verdict := Decide(c.input(DefaultArgs()), nil)
			if got := verdict.Status; got.Phase != schedulingv1alpha1.PodMigrationJobFailed || got.Message != test.wantMessage || verdict.Action.Kind != NoAction {
				t.Errorf("%s: %q, action %q; want Failed: %q, none", got.Phase, got.Message, verdict.Action.Kind, test.wantMessage)
			}
			for _, begun := range []schedulingv1alpha1.PodMigrationJobConditionType{
				schedulingv1alpha1.PodMigrationJobConditionSurge, schedulingv1alpha1.PodMigrationJobConditionEviction,
			} {
				if condition := Condition(&verdict.Status, begun); condition != nil {
					t.Errorf("condition %+v, want none: nothing was begun", condition)
				}
			}
		})
	}
}

func TestTheReplacementIsReadyBeforeThePodIsEvicted(t *testing.T) {
	args := DefaultArgs()
	c := atSurge(nil).step(args, whole) // records the intent
	if got := Decide(c.input(args), nil).Action; got != (Action{Kind: DetachPod, UID: podUID}) {
		t.Fatalf("action %+v, want that the pod is detached", got)
	}
	c = c.step(args, whole).step(args, whole)
	if gate, verdict := gateNamed(t, c, "ReservationBound"); gate.State != Waiting || verdict.Action.Kind != NoAction {
		t.Fatalf("gate %+v, action %q; want to wait for the replacement", gate, verdict.Action.Kind)
	}
	c.Reservation.Phase, c.Reservation.Users = schedulingv1alpha1.ReservationSucceeded, []corev1.ObjectReference{{Namespace: "default", Name: "new", UID: "new"}}
	c.Replacement = &Replacement{UID: "new"}
	c = c.step(args, whole)
	if gate, verdict := gateNamed(t, c, "BoundPodReady"); gate.State != Waiting || verdict.Action.Kind != NoAction {
		t.Fatalf("gate %+v, action %q; want to wait until the replacement is ready", gate, verdict.Action.Kind)
	}
	c.Replacement.Ready = true
	c = c.step(args, whole)
	if got := Decide(c.input(args), nil).Action; got != (Action{Kind: EvictPod, UID: podUID, Policy: Eviction}) {
		t.Fatalf("action %+v, want an eviction", got)
	}
	c.Pod = nil
	if got := Decide(c.input(args), nil).Status; got.Phase != schedulingv1alpha1.PodMigrationJobSucceeded {
		t.Errorf("phase %s, %s; want Succeeded", got.Phase, got.Message)
	}
}

func TestAJobThatEndsGivesItsPodBack(t *testing.T) {
	args := DefaultArgs()
	c := atSurge(nil).step(args, whole).step(args, whole)
	c.Job.Annotations[extension.AnnotationAbortMigration] = "true"
	c = c.step(args, whole)
	if got := Decide(c.input(args), nil); got.Status.Phase != schedulingv1alpha1.PodMigrationJobAborted || got.Action != (Action{Kind: AttachPod, UID: podUID}) {
		t.Errorf("phase %s, action %+v; want Aborted, and that the pod is attached", got.Status.Phase, got.Action)
	}
	c.Pod.DetachedBy = ""
	if got := Decide(c.input(args), nil).Action.Kind; got != DeleteReservation {
		t.Errorf("action %q after the pod is attached, want that the reservation is deleted", got)
	}
}

func TestAPodThatAUserGivesBackIsNotEvicted(t *testing.T) {
	args := DefaultArgs()
	c := atSurge(nil).step(args, whole).step(args, whole).step(args, whole)
	c.Pod.DetachedBy = ""
	if got := Decide(c.input(args), nil); got.Status.Phase != schedulingv1alpha1.PodMigrationJobAborted || got.Status.Reason != "SurgeUndone" || got.Action.Kind != NoAction {
		t.Errorf("phase %s, reason %s, action %q; want Aborted, SurgeUndone, none", got.Status.Phase, got.Status.Reason, got.Action.Kind)
	}
}
