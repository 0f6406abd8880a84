package rebalance_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/events"

	"koordinator.sh/koord/api/extension"
)

// throttleable may be resized, requests a core and is limited to some.
func throttleable(limit string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{extension.AnnotationResizeInPlace: extension.ResizeInPlaceAllowed}
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
	}
}

// lowered was limited to 4 cores before, and used 2.9 of them.
func lowered(pod *corev1.Pod) {
	throttleable("1500m")(pod)
	pod.Annotations[extension.AnnotationLoweredCPULimits] = `{"time":"2026-01-02T03:04:05Z","usage":"2900m","containers":{"main":{"before":"4","after":"1500m"}}}`
}

func TestPodsAreResizedBeforeTheyAreMoved(t *testing.T) {
	for _, test := range []struct {
		name  string
		scene scene
		args  string
		// wantLimits of the two pods, and wantRecorded whether it is known what they were before.
		wantLimits   []string
		wantRecorded bool
		wantJobs     int
		wantEvents   []string
	}{
		{
			name: "limits are lowered until the node is at its threshold", scene: scene{change: throttleable("4")}, wantLimits: []string{"1010m", "1480m"}, wantRecorded: true,
			wantEvents: []string{
				"Normal CPULimitLowered the CPU limit was lowered from 4 to 1010m, because node hot is overutilized; it is given back when the load has fallen",
				"Normal CPULimitLowered the CPU limit was lowered from 4 to 1480m, because node hot is overutilized; it is given back when the load has fallen",
			},
		},
		{name: "a dry run changes nothing", scene: scene{change: throttleable("4")}, args: "{dryRun: true}", wantLimits: []string{"4", "4"}},
		{name: "switched off, pods move", scene: scene{change: throttleable("4")}, args: "{resizeInPlace: false}", wantLimits: []string{"4", "4"}, wantJobs: 1},
		{
			name: "limits are given back on a node with room", scene: scene{change: lowered, system: "1"}, args: "{varianceWeight: 0}", wantLimits: []string{"4", "4"},
			wantEvents: []string{"Normal CPULimitRestored the CPU limit was given back, 4 instead of 1500m", "Normal CPULimitRestored the CPU limit was given back, 4 instead of 1500m"},
		},
		{name: "and stay lowered on one without", scene: scene{change: lowered, system: "4"}, args: "{varianceWeight: 0}", wantLimits: []string{"1500m", "1500m"}, wantRecorded: true},
		{
			name: "switched off, they are given back all the same", scene: scene{change: lowered, system: "4"}, args: "{resizeInPlace: false, varianceWeight: 0}", wantLimits: []string{"4", "4"},
			wantEvents: []string{"Normal CPULimitRestored the CPU limit was given back, 4 instead of 1500m", "Normal CPULimitRestored the CPU limit was given back, 4 instead of 1500m"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			recorder := events.NewFakeRecorder(10)
			test.scene.deployment, test.scene.sources.Recorder = deployment(nil), recorder
			if test.args == "" {
				test.args = "{}"
			}
			after := test.scene.pass(t, test.args)
			var limits []string
			for i := range after.pods.Items {
				pod := &after.pods.Items[i]
				limits = append(limits, pod.Spec.Containers[0].Resources.Limits.Cpu().String())
				if recorded := pod.Annotations[extension.AnnotationLoweredCPULimits] != ""; recorded != test.wantRecorded {
					t.Errorf("pod %s has %v, recorded want %t", pod.Name, pod.Annotations, test.wantRecorded)
				}
			}
			if diff := cmp.Diff(test.wantLimits, limits); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
			if len(after.jobs) != test.wantJobs {
				t.Errorf("%d jobs, want %d", len(after.jobs), test.wantJobs)
			}
			var said []string
			for len(recorder.Events) > 0 {
				said = append(said, <-recorder.Events)
			}
			if diff := cmp.Diff(test.wantEvents, said); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
