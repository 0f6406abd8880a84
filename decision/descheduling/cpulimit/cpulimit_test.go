package cpulimit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podresize"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// container requests and is limited to so many milli-cores; 0 for none.
func container(name string, request, limit int64) corev1.Container {
	c := corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}}
	if request > 0 {
		c.Resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(request, resource.DecimalSI)
	}
	if limit > 0 {
		c.Resources.Limits[corev1.ResourceCPU] = *resource.NewMilliQuantity(limit, resource.DecimalSI)
	}
	return c
}

// jobPod runs for a Job.
func jobPod(containers ...corev1.Container) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train", Annotations: map[string]string{}}}
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "train", Controller: new(true)}}
	pod.Spec.Containers = containers
	pod.Status.Phase = corev1.PodRunning
	return pod
}

// with what a change does.
func with(t *testing.T, pod *corev1.Pod, change Change) *corev1.Pod {
	t.Helper()
	out, err := change.Apply(pod)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRange(t *testing.T) {
	for _, test := range []struct {
		name string
		pod  *corev1.Pod
		edit func(*corev1.Pod)
		want Range
	}{
		{name: "a job below its limit", pod: jobPod(container("main", 500, 4000)), want: Range{Least: 510, Limit: 4000}},
		{name: "containers are added up", pod: jobPod(container("main", 500, 4000), container("side", 100, 100)), want: Range{Least: 610, Limit: 4100}},
		{name: "a request of nothing", pod: jobPod(container("main", 0, 1000)), want: Range{Least: 10, Limit: 1000}},
		{name: "limits that equal the requests", pod: jobPod(container("main", 500, 500)), want: Range{Least: 500, Limit: 500, Kept: "its CPU limits are as low as its requests"}},
		{
			name: "a service", pod: jobPod(container("main", 500, 4000)), edit: func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "ReplicaSet" },
			want: Range{Kept: "it is not of a Job"},
		},
		{
			name: "a service that allows it", pod: jobPod(container("main", 500, 4000)),
			edit: func(p *corev1.Pod) {
				p.OwnerReferences[0].Kind, p.Annotations[extension.AnnotationResizeInPlace] = "ReplicaSet", extension.ResizeInPlaceAllowed
			},
			want: Range{Least: 510, Limit: 4000},
		},
		{
			name: "a job that does not", pod: jobPod(container("main", 500, 4000)),
			edit: func(p *corev1.Pod) {
				p.Annotations[extension.AnnotationResizeInPlace] = extension.ResizeInPlaceNever
			},
			want: Range{Kept: `its annotation descheduler.koordinator.sh/resize-in-place is "Never"`},
		},
		{
			name: "a best-effort pod of the agent", pod: jobPod(container("main", 500, 4000)),
			edit: func(p *corev1.Pod) { p.Labels = map[string]string{extension.LabelPodQoS: string(extension.QoSBE)} },
			want: Range{Kept: "the agent holds best-effort pods back"},
		},
		{name: "a container without a limit", pod: jobPod(container("main", 500, 4000), container("side", 100, 0)), want: Range{Kept: `container "side" has no CPU limit`}},
		{
			name: "a container that would restart", pod: jobPod(container("main", 500, 4000)),
			edit: func(p *corev1.Pod) {
				p.Spec.Containers[0].ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.RestartContainer}}
			},
			want: Range{Kept: `container "main" restarts when its CPU changes`},
		},
		{
			name: "resources of the whole pod", pod: jobPod(container("main", 500, 4000)), edit: func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{} },
			want: Range{Kept: "resources of a whole pod cannot be changed in place"},
		},
		{
			name: "a pod that has not started", pod: jobPod(container("main", 500, 4000)), edit: func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending },
			want: Range{Least: 510, Limit: 4000, Kept: "it does not run"},
		},
		{
			name: "a resize that is under way", pod: jobPod(container("main", 500, 4000)),
			edit: func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizeInProgress, Status: corev1.ConditionTrue}}
			},
			want: Range{Least: 510, Limit: 4000, Kept: "a resize is under way"},
		},
		{
			name: "a kubelet that cannot", pod: jobPod(container("main", 500, 4000)),
			edit: func(p *corev1.Pod) {
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
			},
			want: Range{Least: 510, Limit: 4000, Kept: "its node cannot resize pods"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.edit != nil {
				test.edit(test.pod)
			}
			if diff := cmp.Diff(test.want, Of(test.pod)); diff != "" {
				t.Errorf("range (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimitsAreLoweredTwiceAndGivenBackAtOnce(t *testing.T) {
	pod := jobPod(container("main", 500, 4000), container("side", 100, 600), container("fixed", 200, 200))
	first := with(t, pod, Lower(pod, 2000, 3500, noon))
	if diff := cmp.Diff(Range{Least: 820, Limit: 2000, Before: 4800, Usage: 3500}, Of(first)); diff != "" {
		t.Fatalf("range after the first time (-want +got):\n%s", diff)
	}
	second := with(t, first, Lower(first, 0, 1900, noon.Add(time.Hour)))
	lowered := InForce(second)
	if lowered == nil || !lowered.Time.Time.Equal(noon) || lowered.Usage.MilliValue() != 3500 {
		t.Errorf("recorded %+v, want the time and the usage of the first time", lowered)
	}
	want := Range{Least: 820, Limit: 820, Before: 4800, Usage: 3500, Kept: "its CPU limits are as low as its requests"}
	if diff := cmp.Diff(want, Of(second)); diff != "" {
		t.Errorf("range after the second time (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(pod, with(t, second, Restore(second)), cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })); diff != "" {
		t.Errorf("the pod that has its limits back (-before +after):\n%s", diff)
	}
}

func TestAPodThatForbidsItLaterGetsItsLimitsBack(t *testing.T) {
	pod := jobPod(container("main", 500, 4000))
	lowered := with(t, pod, Lower(pod, 1000, 3500, noon))
	lowered.Annotations[extension.AnnotationResizeInPlace] = extension.ResizeInPlaceNever
	if got := Of(lowered); !got.Withdrawn || got.Before != 4000 {
		t.Errorf("range %+v, want one that is withdrawn", got)
	}
}

func TestWhatSomebodyElseChangedIsLeftAlone(t *testing.T) {
	pod := jobPod(container("main", 500, 4000), container("side", 100, 600))
	for _, test := range []struct {
		name string
		edit func(*corev1.Pod)
	}{
		{"another limit of a container", func(p *corev1.Pod) {
			p.Spec.Containers[1].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("3")
		}},
		{"a container that is not there", func(p *corev1.Pod) { p.Spec.Containers = p.Spec.Containers[:1] }},
		{"an annotation that cannot be read", func(p *corev1.Pod) { p.Annotations[extension.AnnotationLoweredCPULimits] = "{" }},
		{"an annotation that names no container", func(p *corev1.Pod) {
			p.Annotations[extension.AnnotationLoweredCPULimits] = `{"time":"2026-03-04T12:00:00Z","usage":"1"}`
		}},
		{"a limit before that is lower than the one after", func(p *corev1.Pod) {
			after := p.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU]
			p.Annotations[extension.AnnotationLoweredCPULimits] = fmt.Sprintf(`{"containers":{"main":{"before":"1m","after":%q}}}`, after.String())
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			lowered := with(t, pod, Lower(pod, 1000, 3500, noon))
			if InForce(lowered) == nil {
				t.Fatal("nothing is in force before the edit")
			}
			test.edit(lowered)
			if got := InForce(lowered); got != nil {
				t.Errorf("in force is %+v, want nothing", got)
			}
			if change := Restore(lowered); len(change.Containers) > 0 {
				t.Errorf("changes %+v, want none", change.Containers)
			}
		})
	}
}

// TestLimitsAddUp: whatever the pod and the wish, the new limits add up to it, within the range, and no container gets less than it requests
// or more than it had.
func TestLimitsAddUp(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 7))
		var containers []corev1.Container
		for i := range 1 + random.IntN(5) {
			request := random.Int64N(3000)
			containers = append(containers, container(fmt.Sprint("c", i), request, request+random.Int64N(4000)+1))
		}
		pod := jobPod(containers...)
		before, to := Of(pod), random.Int64N(20000)-1000
		after := with(t, pod, Lower(pod, to, 100, noon))
		if got, want := Of(after).Limit, min(max(to, before.Least), before.Limit); got != want {
			t.Fatalf("seed %d: the limits add up to %d, want %d", seed, got, want)
		}
		for i, c := range after.Spec.Containers {
			was := pod.Spec.Containers[i].Resources
			if c.Resources.Limits.Cpu().Cmp(*was.Limits.Cpu()) > 0 || c.Resources.Limits.Cpu().Cmp(*was.Requests.Cpu()) < 0 {
				t.Fatalf("seed %d: container %s has the limit %s, requests %s and had %s", seed, c.Name, c.Resources.Limits.Cpu(), was.Requests.Cpu(), was.Limits.Cpu())
			}
		}
		if patch, err := podresize.Patch(pod, Restore(after).Containers); err != nil || strings.Contains(string(patch), "requests") {
			t.Fatalf("seed %d: patch %s, %v", seed, patch, err)
		}
	}
}
