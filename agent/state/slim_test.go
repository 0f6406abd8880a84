package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestWhatIsNotReadIsNotKept(t *testing.T) {
	meta := func(keep bool) metav1.ObjectMeta {
		out := metav1.ObjectMeta{Name: "n", Annotations: map[string]string{"kept": "yes"}}
		if !keep {
			out.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		}
		return out
	}
	applied := meta(false)
	applied.Annotations[corev1.LastAppliedConfigAnnotation] = "{}"
	spec := slov1alpha1.NodeMetricSpec{CollectPolicy: &slov1alpha1.NodeMetricCollectPolicy{ReportIntervalSeconds: new(int64(60))}}
	claim := corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-0"}}}
	tests := map[string]struct{ object, want any }{
		"a Node without its images": {
			&corev1.Node{ObjectMeta: *applied.DeepCopy(), Status: corev1.NodeStatus{Phase: corev1.NodeRunning, Images: []corev1.ContainerImage{{SizeBytes: 1}}}},
			&corev1.Node{ObjectMeta: meta(true), Status: corev1.NodeStatus{Phase: corev1.NodeRunning}},
		},
		"a NodeMetric without what was reported": {
			&slov1alpha1.NodeMetric{ObjectMeta: meta(false), Spec: spec, Status: slov1alpha1.NodeMetricStatus{UpdateTime: &metav1.Time{}}},
			&slov1alpha1.NodeMetric{ObjectMeta: meta(true), Spec: spec},
		},
		"a NodeSLO whole": {
			&slov1alpha1.NodeSLO{ObjectMeta: meta(false), Spec: slov1alpha1.NodeSLOSpec{SystemStrategy: &slov1alpha1.SystemStrategy{}}},
			&slov1alpha1.NodeSLO{ObjectMeta: meta(true), Spec: slov1alpha1.NodeSLOSpec{SystemStrategy: &slov1alpha1.SystemStrategy{}}},
		},
		"a pod without what its containers run": {
			&corev1.Pod{ObjectMeta: *applied.DeepCopy(), Spec: corev1.PodSpec{NodeName: "n", Volumes: []corev1.Volume{{Name: "v"}}, Containers: []corev1.Container{{Name: "c", Args: []string{"x"}}}}},
			&corev1.Pod{ObjectMeta: meta(true), Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c"}}}},
		},
		"a pod with the volumes of its claims alone": {
			&corev1.Pod{ObjectMeta: meta(false), Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "token"}, claim}, Containers: []corev1.Container{{
				Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "token", MountPath: "/token"}, {Name: "data", MountPath: "/data"}},
			}}}},
			&corev1.Pod{ObjectMeta: meta(true), Spec: corev1.PodSpec{Volumes: []corev1.Volume{claim}, Containers: []corev1.Container{{
				Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
			}}}},
		},
		"what is no object": {cache.DeletedFinalStateUnknown{Key: "n"}, cache.DeletedFinalStateUnknown{Key: "n"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := slim(tc.object)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("kept (-want +got):\n%s%v", diff, err)
			}
		})
	}
}
