package migration

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

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

// webPod is a pod of ReplicaSet web-7d.
func webPod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web-7d-x", UID: podUID, ResourceVersion: "7", Labels: map[string]string{"app": "web", "pod-template-hash": "7d"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7d", UID: "set", Controller: new(true)}},
	}}
}

const detachment = `{"metadata":{"annotations":{"descheduler.koordinator.sh/surge":` +
	`"{\"job\":\"move\",\"jobUID\":\"job\",\"podTemplateHash\":\"7d\",\"replicaSet\":\"web-7d\",\"replicaSetUID\":\"set\"}"},` +
	`"labels":{"pod-template-hash":null},"resourceVersion":"7","uid":"pod"}}`

func TestWhatIsDetachedIsAttachedAsItWas(t *testing.T) {
	job := &schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: "move", UID: jobUID}}
	patch, err := Detachment(job, webPod())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(detachment, string(patch)); diff != "" {
		t.Errorf("detachment (-want +got):\n%s", diff)
	}
	pod := webPod()
	delete(pod.Labels, "pod-template-hash")
	pod.Annotations = map[string]string{extension.AnnotationSurge: `{"job":"move","jobUID":"job","podTemplateHash":"7d","replicaSet":"web-7d","replicaSetUID":"set"}`}
	const back = `"annotations":{"descheduler.koordinator.sh/surge":null},"labels":{"pod-template-hash":"7d"},`
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"the ReplicaSet has let it go": {
			func(pod *corev1.Pod) { pod.OwnerReferences = nil },
			`{"metadata":{` + back + `"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7d","uid":"set","controller":true}],"resourceVersion":"7","uid":"pod"}}`,
		},
		"the ReplicaSet still owns it": {func(*corev1.Pod) {}, `{"metadata":{` + back + `"resourceVersion":"7","uid":"pod"}}`},
		"an annotation that cannot be read": {
			func(pod *corev1.Pod) { pod.Annotations[extension.AnnotationSurge] = "{" },
			`{"metadata":{"annotations":{"descheduler.koordinator.sh/surge":null},"resourceVersion":"7","uid":"pod"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := pod.DeepCopy()
			test.change(pod)
			patch, err := Attachment(pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(patch)); diff != "" {
				t.Errorf("attachment (-want +got):\n%s", diff)
			}
		})
	}
	bare := webPod()
	bare.OwnerReferences = nil
	if _, err := Detachment(job, bare); err == nil {
		t.Error("a pod without a ReplicaSet is detached")
	}
}

func TestADeploymentAllowsAsManyPodsAsItsStrategy(t *testing.T) {
	rolling := func(surge intstr.IntOrString) appsv1.DeploymentStrategy {
		return appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge}}
	}
	for _, test := range []struct {
		name     string
		strategy appsv1.DeploymentStrategy
		replicas int32
		want     int
	}{
		{"a percentage is rounded up", rolling(intstr.FromString("25%")), 1, 1},
		{"a percentage of many", rolling(intstr.FromString("25%")), 10, 3},
		{"a number", rolling(intstr.FromInt32(2)), 10, 2},
		{"none", rolling(intstr.FromInt32(0)), 10, 0},
		{"not a percentage", rolling(intstr.FromString("many")), 10, 0},
		{"negative", rolling(intstr.FromInt32(-1)), 10, 0},
		{"Recreate", appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, 10, 0},
	} {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{Replicas: &test.replicas, Strategy: test.strategy}}
		if diff := cmp.Diff(&Workload{Name: "web", MaxSurge: test.want}, WorkloadOf(deployment, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	for name, change := range map[string]func(*appsv1.Deployment){
		"old pods are left":      func(d *appsv1.Deployment) { d.Status.Replicas, d.Status.UpdatedReplicas = 3, 2 },
		"a change is not seen":   func(d *appsv1.Deployment) { d.Generation, d.Status.ObservedGeneration = 2, 1 },
		"no status is there yet": func(d *appsv1.Deployment) { d.Generation = 1 },
	} {
		deployment := &appsv1.Deployment{}
		change(deployment)
		if !WorkloadOf(deployment, 0).RollingOut {
			t.Errorf("%s: the Deployment is not rolled out", name)
		}
	}
}

func TestReplacementsOfOneReplicaSetAreCounted(t *testing.T) {
	job := func(name, pod string, edits ...func(*schedulingv1alpha1.PodMigrationJob)) schedulingv1alpha1.PodMigrationJob {
		out := schedulingv1alpha1.PodMigrationJob{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
			Spec:       schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "shop", Name: pod, UID: podUID}},
			Status:     schedulingv1alpha1.PodMigrationJobStatus{Conditions: []schedulingv1alpha1.PodMigrationJobCondition{{Type: schedulingv1alpha1.PodMigrationJobConditionSurge}}},
		}
		for _, edit := range edits {
			edit(&out)
		}
		return out
	}
	detached := webPod()
	detached.OwnerReferences = nil
	detached.Annotations = map[string]string{extension.AnnotationSurge: `{"jobUID":"ended-not-given-back","replicaSet":"web-7d","replicaSetUID":"set"}`}
	leaving, other := webPod(), webPod()
	leaving.DeletionTimestamp, other.OwnerReferences[0].UID = new(metav1.Now()), "another"
	pods := map[string]*corev1.Pod{"web": webPod(), "detached": detached, "leaving": leaving, "other": other}
	failed := func(job *schedulingv1alpha1.PodMigrationJob) {
		job.Status.Phase = schedulingv1alpha1.PodMigrationJobFailed
	}
	jobs := []schedulingv1alpha1.PodMigrationJob{
		job("mine", "web"), job("starting", "web"), job("ended-not-given-back", "detached", failed),
		job("ended", "web", failed), job("of-a-pod-that-leaves", "leaving"), job("of-another-ReplicaSet", "other"), job("of-no-pod", "gone"),
		job("evicting-first", "web", func(job *schedulingv1alpha1.PodMigrationJob) { job.Status.Conditions = nil }),
		job("elsewhere", "web", func(job *schedulingv1alpha1.PodMigrationJob) { job.Spec.PodRef.Namespace = "bank" }),
		job("without-a-pod", "web", func(job *schedulingv1alpha1.PodMigrationJob) { job.Spec.PodRef = nil }),
	}
	got, err := Surging(&jobs[0], jobs, "set", func(name string) (*corev1.Pod, error) { return pods[name], nil })
	if err != nil || got != 2 {
		t.Errorf("%d pods are being replaced, %v; want 2: of starting and of ended-not-given-back", got, err)
	}
	unreadable := errors.New("no answer")
	if _, err := Surging(&jobs[0], jobs, "set", func(string) (*corev1.Pod, error) { return nil, unreadable }); !errors.Is(err, unreadable) {
		t.Errorf("error %v, want %v", err, unreadable)
	}
}
