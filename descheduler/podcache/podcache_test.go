package podcache

import (
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func amounts(cpu string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
}

// newPod is a pod of the ReplicaSet "web" as an API server would send it.
func newPod(name string) *corev1.Pod {
	since := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "web"},
			Annotations:     map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "team": "shop"},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kubelet"}},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "ReplicaSet", Name: "web", UID: "web", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-" + name,
			Volumes: []corev1.Volume{
				{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "token-" + name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}},
			},
			Containers: []corev1.Container{{
				Name: "main", Image: "web:1", Command: []string{"/web"}, Env: []corev1.EnvVar{{Name: "SECRET", Value: "hidden"}},
				Ports: []corev1.ContainerPort{{HostPort: 80}},
				ResizePolicy: []corev1.ContainerResizePolicy{
					{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.NotRequired}, {ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer},
				},
				Resources: corev1.ResourceRequirements{Requests: amounts("1"), Limits: amounts("2")},
			}},
			Tolerations:     []corev1.Toleration{{Key: "spot"}},
			SecurityContext: &corev1.PodSecurityContext{},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.1", StartTime: &since, QOSClass: corev1.PodQOSBurstable,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: since, Message: "ready"}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "main", Image: "web:1", ContainerID: "containerd://1", Ready: true, RestartCount: 3,
				State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 5m"}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 7, Reason: "Error", Message: "panic", ContainerID: "containerd://0"}},
				AllocatedResources:   amounts("1"),
				Resources:            &corev1.ResourceRequirements{Requests: amounts("1"), Limits: amounts("2")},
			}},
		},
	}
}

func transform[T any](t *testing.T, by cache.TransformFunc, object T) T {
	t.Helper()
	got, err := by(object)
	if err != nil {
		t.Fatal(err)
	}
	same, ok := got.(T)
	if !ok {
		t.Fatalf("a %T became a %T", object, got)
	}
	return same
}

func TestWhatDecidesAnEvictionStays(t *testing.T) {
	want := newPod("a")
	want.ManagedFields = nil
	want.Annotations = map[string]string{"team": "shop"}
	want.Spec.Volumes = want.Spec.Volumes[:2]
	want.Spec.SecurityContext = nil
	main := &want.Spec.Containers[0]
	main.Command, main.Env = nil, nil
	main.ResizePolicy = main.ResizePolicy[1:]
	want.Status.PodIP = ""
	want.Status.Conditions[0].Message = ""
	status := &want.Status.ContainerStatuses[0]
	status.Image, status.ContainerID = "", ""
	status.State.Waiting.Message = ""
	status.LastTerminationState.Terminated.Message, status.LastTerminationState.Terminated.ContainerID = "", ""
	if diff := cmp.Diff(want, transform(t, NewTransform(false), newPod("a"))); diff != "" {
		t.Errorf("the cached pod (-want +got):\n%s", diff)
	}
}

// TestSharingChangesNothing compares pods that share with pods that were alone.
func TestSharingChangesNothing(t *testing.T) {
	edits := map[string]func(*corev1.Pod){
		"an equal pod":       func(*corev1.Pod) {},
		"another label":      func(p *corev1.Pod) { p.Labels["app"] = "web2" },
		"another annotation": func(p *corev1.Pod) { p.Annotations["team"] = "other" },
		"more requests":      func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts("2") },
		"another image":      func(p *corev1.Pod) { p.Spec.Containers[0].Image = "web:2" },
		"no tolerations":     func(p *corev1.Pod) { p.Spec.Tolerations = nil },
		"a resize in flight": func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources.Requests = amounts("3") },
		"not ready, for a reason": func(p *corev1.Pod) {
			p.Status.Conditions[0].Status, p.Status.Conditions[0].Reason = corev1.ConditionFalse, "ContainersNotReady"
		},
		"restarted more often":     func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount++ },
		"it runs":                  running(time.Unix(1, 0)),
		"no conditions":            func(p *corev1.Pod) { p.Status.Conditions = nil },
		"no container has a state": func(p *corev1.Pod) { p.Status.ContainerStatuses = nil },
		"without a controller":     func(p *corev1.Pod) { p.OwnerReferences = nil },
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			shared := NewTransform(false)
			first := transform(t, shared, newPod("a"))
			second, alone := newPod("b"), newPod("b")
			edit(second)
			edit(alone)
			if diff := cmp.Diff(transform(t, NewTransform(false), alone), transform(t, shared, second), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("a pod that shares (-alone +shares):\n%s", diff)
			}
			if diff := cmp.Diff(transform(t, NewTransform(false), newPod("a")), first); diff != "" {
				t.Errorf("the pod that it shares with (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsOfAControllerShare(t *testing.T) {
	by := NewTransform(false)
	a := transform(t, by, newPod("a"))
	b := transform(t, by, newPod("b"))
	updated := transform(t, by, newPod("a")) // takes the place of a in the cache
	c := transform(t, by, newPod("c"))
	for _, other := range []*corev1.Pod{b, updated, c} {
		if &a.Spec.Containers[0] != &other.Spec.Containers[0] || &a.OwnerReferences[0] != &other.OwnerReferences[0] {
			t.Errorf("pod %s has containers or owners of its own", other.Name)
		}
		if &a.Status.ContainerStatuses[0] != &other.Status.ContainerStatuses[0] {
			t.Errorf("pod %s has container statuses of its own", other.Name)
		}
		if unsafe.StringData(a.Namespace) != unsafe.StringData(other.Namespace) {
			t.Errorf("pod %s has a namespace of its own", other.Name)
		}
	}
	runtime.KeepAlive(a)
}

// running has the container of a pod run since a time.
func running(since time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: since}}}
	}
}

func TestContainersThatRunShareWhateverTheyStarted(t *testing.T) {
	by := NewTransform(false)
	var pods []*corev1.Pod
	for i, name := range []string{"a", "b"} {
		pod := newPod(name)
		running(time.Unix(int64(i), 0))(pod)
		pods = append(pods, transform(t, by, pod))
	}
	if &pods[0].Status.ContainerStatuses[0] != &pods[1].Status.ContainerStatuses[0] {
		t.Error("the pods have container statuses of their own")
	}
}

// TestASecondTransformationWritesToNoOtherPod: an informer that lists by watching transforms pods twice, and those that they share with are
// read meanwhile.
func TestASecondTransformationWritesToNoOtherPod(t *testing.T) {
	by := NewTransform(false)
	withInit := func(name string) *corev1.Pod {
		pod := newPod(name)
		pod.Spec.InitContainers = []corev1.Container{{Name: "init", Command: []string{"/init"}}}
		return transform(t, by, pod)
	}
	cached, listed := withInit("a"), withInit("b")
	if &cached.Spec.InitContainers[0] != &listed.Spec.InitContainers[0] || &cached.Spec.Containers[0] != &listed.Spec.Containers[0] {
		t.Fatal("the pods have containers of their own")
	}
	// A write would drop these again.
	cached.Spec.InitContainers[0].Command, cached.Spec.Containers[0].Command = []string{"/kept"}, []string{"/kept"}
	cached.Annotations[corev1.LastAppliedConfigAnnotation] = "kept"
	cached.Status.ContainerStatuses[0].Image = "kept"
	want := cached.DeepCopy()
	transform(t, by, listed)
	if diff := cmp.Diff(want, cached); diff != "" {
		t.Errorf("the pod in the cache (-want +got):\n%s", diff)
	}
}

func TestASecondTransformationKeepsSharing(t *testing.T) {
	by := NewTransform(false)
	a, b := transform(t, by, newPod("a")), transform(t, by, newPod("b"))
	transform(t, by, b)
	transform(t, by, a)
	if &a.Spec.Containers[0] != &b.Spec.Containers[0] {
		t.Error("the pods have containers of their own")
	}
}

// TestValuesOfNodeAffinityAreInOrder: a plugin of upstream sorts them in place, in pods that others share with.
func TestValuesOfNodeAffinityAreInOrder(t *testing.T) {
	required := func(values ...string) *corev1.Affinity {
		requirement := func() []corev1.NodeSelectorRequirement {
			return []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: slices.Clone(values)}}
		}
		terms := []corev1.NodeSelectorTerm{{MatchExpressions: requirement(), MatchFields: requirement()}}
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	}
	tests := map[string]struct{ given, want *corev1.Affinity }{
		"in no order":             {given: required("c", "a", "b"), want: required("a", "b", "c")},
		"no node is required":     {given: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}, want: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}},
		"no node affinity at all": {given: &corev1.Affinity{}, want: &corev1.Affinity{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := newPod("a")
			pod.Spec.Affinity = test.given
			if diff := cmp.Diff(test.want, transform(t, NewTransform(false), pod).Spec.Affinity); diff != "" {
				t.Errorf("the affinity (-want +got):\n%s", diff)
			}
		})
	}
}

func TestControllersWithoutPodsAreForgotten(t *testing.T) {
	s := &sharing{known: map[types.UID]pointer{}, sweepAt: firstSweep}
	kept := newPod("kept")
	s.join(kept)
	for i := range 4 * firstSweep {
		pod := newPod("gone")
		pod.OwnerReferences[0].UID = types.UID(rune('a' + i))
		s.join(pod)
		if i%firstSweep == 0 {
			runtime.GC()
		}
	}
	runtime.GC()
	s.sweepAt = 0
	s.sweep()
	if len(s.known) != 1 || s.known["web"].Value() != kept {
		t.Errorf("%d controllers are known, want the one that has a pod", len(s.known))
	}
	if s.sweepAt != firstSweep {
		t.Errorf("the next sweep is at %d, want %d", s.sweepAt, firstSweep)
	}
	runtime.KeepAlive(kept)
}

func TestOtherObjectsLoseTheirManagedFields(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}}}
	if got := transform(t, NewTransform(false), node); got.ManagedFields != nil || got.Name != "n" {
		t.Errorf("node %+v", got.ObjectMeta)
	}
}

func TestConditionsThatAllPodsHaveAreDropped(t *testing.T) {
	condition := func(kind corev1.PodConditionType, status corev1.ConditionStatus) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: status}
	}
	given := []corev1.PodCondition{
		condition(corev1.PodReadyToStartContainers, corev1.ConditionTrue), condition(corev1.PodInitialized, corev1.ConditionTrue),
		condition(corev1.PodReady, corev1.ConditionTrue), condition(corev1.ContainersReady, corev1.ConditionFalse),
		condition(corev1.PodScheduled, corev1.ConditionTrue), condition(corev1.DisruptionTarget, corev1.ConditionTrue), condition("example.com/gate", corev1.ConditionTrue),
	}
	tests := map[string]struct {
		keepNormal bool
		want       []corev1.PodCondition
	}{
		"no plugin reads them": {want: []corev1.PodCondition{given[2], given[3], given[5], given[6]}},
		"a plugin reads them":  {keepNormal: true, want: given},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := newPod("a")
			pod.Status.Conditions = slices.Clone(given)
			if diff := cmp.Diff(test.want, transform(t, NewTransform(test.keepNormal), pod).Status.Conditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}
