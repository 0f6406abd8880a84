package quota

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func resourcesOf(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func reviewed(name, parent string, limit, used corev1.ResourceList) schedulingsigsv1alpha1.ElasticQuota {
	return schedulingsigsv1alpha1.ElasticQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "quotas", Name: name, Labels: map[string]string{extension.LabelQuotaParent: parent}},
		Spec:       schedulingsigsv1alpha1.ElasticQuotaSpec{Max: limit}, Status: schedulingsigsv1alpha1.ElasticQuotaStatus{Used: used},
	}
}

func asking(quota string, phase corev1.PodPhase, pairs ...string) corev1.Pod {
	priority := int32(9500)
	if pairs[0] == string(extension.BatchCPU) {
		priority = 5500
	}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pod", Labels: map[string]string{extension.LabelQuotaName: quota}},
		Spec: corev1.PodSpec{Priority: &priority, Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: resourcesOf(pairs...)},
		}}},
		Status: corev1.PodStatus{Phase: phase},
	}
}

func TestReview(t *testing.T) {
	batch := func(quota string) corev1.Pod {
		return asking(quota, corev1.PodRunning, "kubernetes.io/batch-cpu", "4000", "kubernetes.io/batch-memory", "1Gi")
	}
	tests := map[string]struct {
		quotas []schedulingsigsv1alpha1.ElasticQuota
		pods   []corev1.Pod
		want   []string
	}{
		"within max": {quotas: []schedulingsigsv1alpha1.ElasticQuota{reviewed("a", "", resourcesOf("cpu", "12"), resourcesOf("cpu", "12"))}},
		"above max": {
			quotas: []schedulingsigsv1alpha1.ElasticQuota{reviewed("a", "", resourcesOf("cpu", "12", "memory", "8Gi"), resourcesOf("cpu", "16", "memory", "1Gi"))},
			want:   []string{`KOORD1213 quota "a" uses 16 cores of cpu, max is 12 cores`},
		},
		"of a resource that it does not limit nothing is too much": {
			quotas: []schedulingsigsv1alpha1.ElasticQuota{reviewed("a", "", resourcesOf("memory", "8Gi"), resourcesOf("cpu", "16"))},
		},
		"batch pods in a quota of plain cpu": {
			quotas: []schedulingsigsv1alpha1.ElasticQuota{reviewed("a", "", resourcesOf("cpu", "12"), nil)},
			pods:   []corev1.Pod{batch("a"), batch("a"), asking("a", corev1.PodRunning, "cpu", "1"), asking("a", corev1.PodSucceeded, "kubernetes.io/batch-cpu", "9000")},
			want:   []string{`KOORD1214 quota "a" does not count kubernetes.io/batch-cpu (8 cores), requested by 2 pods: its max names cpu`},
		},
		"batch pods in a quota that limits both": {
			quotas: []schedulingsigsv1alpha1.ElasticQuota{reviewed("a", "", resourcesOf("cpu", "12", "kubernetes.io/batch-cpu", "9000"), nil)},
			pods:   []corev1.Pod{batch("a")},
		},
		"batch pods below a quota that limits them": {
			quotas: []schedulingsigsv1alpha1.ElasticQuota{
				reviewed("a", "top", resourcesOf("cpu", "12"), nil), reviewed("top", "", resourcesOf("cpu", "20", "kubernetes.io/batch-cpu", "9000"), nil),
			},
			pods: []corev1.Pod{batch("a")},
		},
		"plain memory in a quota of cpu is of no other tier": {
			quotas: []schedulingsigsv1alpha1.ElasticQuota{reviewed("a", "", resourcesOf("cpu", "12"), nil)},
			pods:   []corev1.Pod{asking("a", corev1.PodRunning, "cpu", "1", "memory", "1Gi")},
		},
		"quotas that are above each other": {
			quotas: []schedulingsigsv1alpha1.ElasticQuota{reviewed("a", "b", resourcesOf("cpu", "12"), nil), reviewed("b", "a", resourcesOf("cpu", "12"), nil)},
			pods:   []corev1.Pod{batch("b")},
			want:   []string{`KOORD1214 quota "b" does not count kubernetes.io/batch-cpu (4 cores), requested by 1 pod: its max names cpu`},
		},
		"the default quota": {quotas: []schedulingsigsv1alpha1.ElasticQuota{reviewed(extension.DefaultQuotaName, "", resourcesOf("cpu", "1"), resourcesOf("cpu", "2"))},
			pods: []corev1.Pod{batch("")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Review(tc.quotas, Pods(tc.pods)) {
				got = append(got, f.Code+" "+f.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
