package recommender

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestRunningOutOfMemoryIsHeededOnce(t *testing.T) {
	pod := webPod(0)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", LastTerminationState: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", FinishedAt: metav1.Time{Time: noon}},
	}}}
	r := newRig(t, false, forDeployment(), pod)
	r.run(2, 1, 100, "web-0")
	_, before := r.target("main")
	if before < 614 || before > 615 {
		t.Errorf("target is %dMi, want a fifth above the 512Mi that were not enough", before)
	}
	r.restart(false)
	r.run(2, 1, 100, "web-0")
	if _, after := r.target("main"); after != before {
		t.Errorf("target is %dMi after a restart, was %dMi", after, before)
	}
}

// failedPod is one that is not started again and ran out of memory at a time; nil for one that failed otherwise.
func failedPod(i int, at *time.Time) *corev1.Pod {
	pod := webPod(i)
	pod.Spec.RestartPolicy, pod.Status.Phase = corev1.RestartPolicyNever, corev1.PodFailed
	ended := &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1, FinishedAt: metav1.Time{Time: noon}}
	if at != nil {
		ended.Reason, ended.ExitCode, ended.FinishedAt = "OOMKilled", 137, metav1.Time{Time: *at}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: ended}}}
	return pod
}

func TestPodsThatFailedForLackOfMemoryAreHeeded(t *testing.T) {
	elsewhere := failedPod(7, new(noon))
	elsewhere.Namespace = "other"
	another := failedPod(8, new(noon))
	another.OwnerReferences[0].Name = "api-abc"
	succeeded := failedPod(9, new(noon))
	succeeded.Status.Phase = corev1.PodSucceeded
	const own, fifth = 250, 614
	tests := map[string]struct {
		pods []client.Object
		// want is the memory in MiB that is recommended.
		want int64
	}{
		"one that ran out of memory":        {pods: []client.Object{webPod(0), failedPod(1, new(noon))}, want: fifth},
		"one before any usage is known":     {pods: []client.Object{failedPod(1, new(noon))}},
		"one that failed otherwise":         {pods: []client.Object{webPod(0), failedPod(1, nil)}, want: own},
		"one of long ago":                   {pods: []client.Object{webPod(0), failedPod(1, new(noon.Add(-heedFailed)))}, want: own},
		"one of another namespace":          {pods: []client.Object{webPod(0), elsewhere}, want: own},
		"one of another workload":           {pods: []client.Object{webPod(0), another}, want: own},
		"one that succeeded in the end":     {pods: []client.Object{webPod(0), succeeded}, want: own},
		"the later of two, whichever first": {pods: []client.Object{webPod(0), failedPod(2, new(noon)), failedPod(1, new(noon.Add(-time.Minute)))}, want: fifth},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, false, append(test.pods, forDeployment())...)
			r.run(2, 1, 100, "web-0")
			if _, got := r.target("main"); got < test.want || got > test.want+1 {
				t.Errorf("target is %dMi, want %dMi", got, test.want)
			}
		})
	}
}

func TestAPodThatFailedForLackOfMemoryIsHeededOnce(t *testing.T) {
	r := newRig(t, false, forDeployment(), webPod(0), failedPod(1, new(noon)))
	oom := func() (time.Time, int64) {
		c := r.recommendation().Status.Checkpoint.Containers[0]
		return c.LastOOMTime.Time, c.OOMMemory
	}
	r.run(2, 1, 100, "web-0")
	at, memory := oom()
	r.run(20, 1, 100, "web-0")
	r.restart(false)
	r.run(20, 1, 100, "web-0")
	if nowAt, now := oom(); !nowAt.Equal(at) || now != memory {
		t.Errorf("in later passes and after a restart %d bytes at %s are learned, want %d at %s", now, nowAt, memory, at)
	}
	if err := r.client.Create(t.Context(), failedPod(2, new(noon.Add(time.Hour)))); err != nil {
		t.Fatal(err)
	}
	r.run(20, 1, 100, "web-0")
	if nowAt, now := oom(); !nowAt.Equal(noon.Add(time.Hour)) || now < memory {
		t.Errorf("after a second one %d bytes at %s are learned, want no less than %d at the second", now, nowAt, memory)
	}
}
