package qos

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func worth(ratio string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationCPUNormalizationRatio: ratio}}}
}

func TestServicesNeedLessTimeOnFasterCPUs(t *testing.T) {
	versions(t, func(t *testing.T, version cgroup.Version) {
		n := newNode(t, version, []Feature{CPUNormalization{}}, servicePod, boundPod, batchPod)
		at := "kubepods/burstable/podservice"
		n.setQuota(at, "200000")
		n.setQuota(at+"/"+id, "200000")
		n.begin()
		if values := n.features[0].DesiredValues(n.in); len(values) > 0 {
			t.Errorf("without a ratio %+v is wanted", values)
		}
		n.in.Node = worth("1.2")
		n.round()
		want := map[string]string{at + "/cpu.cfs_quota_us": "166667", at + "/" + id + "/cpu.cfs_quota_us": "166667"}
		if version == cgroup.V2 {
			want = map[string]string{at + "/cpu.max": "166667 100000", at + "/" + id + "/cpu.max": "166667 100000"}
		}
		n.wantChanged(want)
		n.wantSteady()
		n.in.Node = worth("1.0")
		n.round()
		n.wantChanged(nil)
		n.wantRestored(nil)
	})
}

func TestABurstIsMeasuredByTheNormalizedQuota(t *testing.T) {
	n := burstNode(t, cgroup.V1, slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstAuto})
	n.features = append(n.features, CPUNormalization{})
	n.in.Node, n.in.QuotaNormalized = worth("2"), true
	n.begin()
	n.round()
	n.wantQuota("100000", "100000")
	if got, _ := n.in.read(cgroup.CPUBurst, "kubepods/burstable/podservice/"+id); got != "100000" {
		t.Errorf("%s us may be saved up, want what the quota is", got)
	}
	n.throttled[id] = true
	n.round()
	n.wantQuota("120000", "120000")
	for range 10 {
		n.round()
	}
	n.wantQuota("300000", "300000")
	n.wantRestored(nil)
}
