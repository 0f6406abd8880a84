package numa

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/reservation"
)

func TestJustified(t *testing.T) {
	tests := map[string]struct {
		cpu, status string
		// wishes are annotations that a user writes.
		wishes map[string]string
		name   string
		// wantCPUs and wantMilliCPU of the zones together.
		wantCPUs     string
		wantMilliCPU int64
	}{
		"what was requested":         {cpu: "2", status: `{"cpuset":"4-5","numaNodeResources":[{"node":1,"resources":{"cpu":"2"}}]}`, wantCPUs: "4-5", wantMilliCPU: 2000},
		"a fraction is a CPU":        {cpu: "1500m", status: `{"cpuset":"4-5"}`, wantCPUs: "4-5"},
		"more CPUs than requested":   {cpu: "2", status: `{"cpuset":"0-7"}`, wantCPUs: "0-1"},
		"no CPU was requested":       {cpu: "0", status: `{"cpuset":"0-7"}`, wantCPUs: ""},
		"more of zones together":     {cpu: "3", status: `{"numaNodeResources":[{"node":0,"resources":{"cpu":"2"}},{"node":1,"resources":{"cpu":"2"}}]}`, wantMilliCPU: 3000},
		"more of a zone than exists": {cpu: "1", status: `{"numaNodeResources":[{"node":0,"resources":{"cpu":"1P"}}]}`, wantMilliCPU: 1000},
		"a resource not requested":   {cpu: "0", status: `{"numaNodeResources":[{"node":0,"resources":{"cpu":"1"}}]}`, wantMilliCPU: 0},
		"an allocation that nobody can read": {
			cpu: "2", status: `{"cpuset":`, wantCPUs: "",
		},
		"wishes that nobody can read": {
			cpu: "2", status: `{"cpuset":"4-5"}`, wantCPUs: "4-5",
			wishes: map[string]string{extension.AnnotationResourceSpec: "{", extension.AnnotationNUMATopologySpec: "[]", extension.AnnotationReservationAllocated: "?"},
		},
		"a pod that poses as the pod of a Reservation": {
			cpu: "2", status: `{"cpuset":"0-7"}`, wantCPUs: "0-1", wishes: map[string]string{reservation.AnnotationReservePod: "true"},
		},
		"the pod of a Reservation of which a user left CPUs": {
			cpu: "2", status: `{"cpuset":"0-7"}`, wantCPUs: "0-7", wishes: map[string]string{reservation.AnnotationReservePod: "true"}, name: "uid",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: tt.name, UID: types.UID("uid"), Annotations: map[string]string{extension.AnnotationResourceStatus: tt.status}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(tt.cpu)},
				}}}},
			}
			for key, text := range tt.wishes {
				pod.Annotations[key] = text
			}
			held, _ := Justified(pod)
			var milliCPU int64
			for _, share := range held.Shares {
				milliCPU += share.Amounts[corev1.ResourceCPU]
			}
			if diff := cmp.Diff([]any{tt.wantCPUs, tt.wantMilliCPU}, []any{held.CPUs.String(), milliCPU}); diff != "" {
				t.Errorf("CPUs and thousandths of zones (-want +got):\n%s", diff)
			}
		})
	}
}
