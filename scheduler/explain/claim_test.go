package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
)

func TestAMissingClaimIsOneReason(t *testing.T) {
	c := newShippedCluster(t)
	for i := range 3 {
		c.addNode(newNode(i))
	}
	pod := newPod("p", "cpu", "17")
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	c.addPod(pod)
	got := map[string]int32{}
	for _, g := range c.explain("p").Groups {
		got[g.Plugin+" "+g.Code+" "+g.Reason] = g.Count
	}
	want := map[string]int32{
		"VolumeBinding " + string(finding.VolumeBinding) + ` persistentvolumeclaim "data" not found`: 3,
		"NodeResourcesFit " + string(finding.InsufficientResources) + " Insufficient cpu":            3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}
