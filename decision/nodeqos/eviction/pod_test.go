package eviction

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/core/podrequest"
)

func spark() *corev1.Pod {
	requests := corev1.ResourceList{extension.BatchCPU: resource.MustParse("2000"), extension.BatchMemory: resource.MustParse("1Gi")}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "exec", UID: "u1", Labels: map[string]string{extension.LabelPodQoS: "BE"}, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{Priority: new(int32(5500)), Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func TestPodOf(t *testing.T) {
	used := &podrequest.Amount{MilliCPU: 500, Memory: 7}
	plain := Pod{
		Ref: Ref{Namespace: "spark", Name: "exec", UID: "u1"}, QoS: extension.QoSBE, Band: extension.PriorityBatch, Priority: 5500, SubPriority: 5500, Active: true,
		Requests: podrequest.Tiers{Batch: podrequest.Amount{MilliCPU: 2000, Memory: 1 << 30}}, Used: used,
	}
	none := map[Feature]bool{}
	for _, feature := range Features() {
		none[feature] = false
	}
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   func(*Pod)
	}{
		"a batch pod": {func(*corev1.Pod) {}, func(*Pod) {}},
		"priorities of its own": {func(p *corev1.Pod) {
			p.Labels[extension.LabelPodPriority] = "12"
			p.Annotations[extension.AnnotationPodEvictionPriority] = "-3"
			p.Labels[extension.LabelPodEvictEnabled] = "true"
		}, func(p *Pod) { p.SubPriority, p.EvictionPriority, p.Agrees = 12, -3, true }},
		"priorities that cannot be read count as absent": {func(p *corev1.Pod) {
			p.Labels[extension.LabelPodPriority] = "high"
			p.Annotations[extension.AnnotationPodEvictionPriority] = "99999999999"
		}, func(*Pod) {}},
		"one feature allowed": {func(p *corev1.Pod) { p.Annotations[extension.AnnotationPodEvictPolicy] = `["BEMemoryEvict"]` }, func(p *Pod) {
			p.Allowed = map[Feature]bool{BECPUEvict: false, CPUAllocatableEvict: false, CPUEvict: false, BEMemoryEvict: true, MemoryAllocatableEvict: false, MemoryEvict: false}
		}},
		"a policy that cannot be read allows none": {func(p *corev1.Pod) { p.Annotations[extension.AnnotationPodEvictPolicy] = "{" }, func(p *Pod) { p.Allowed = none }},
		"an empty policy allows none":              {func(p *corev1.Pod) { p.Annotations[extension.AnnotationPodEvictPolicy] = "[]" }, func(p *Pod) { p.Allowed = none }},
		"a job with a prediction": {func(p *corev1.Pod) {
			p.Annotations[extension.AnnotationJobPrediction] = `{"duration":{"likelySeconds":60,"leastSeconds":50,"mostSeconds":70,"runs":9}}`
			p.Status.StartTime = &metav1.Time{Time: noon}
		}, func(p *Pod) {
			p.Job = &jobinsight.Progress{Started: noon, Expected: &extension.JobPrediction{Duration: &extension.JobDuration{LikelySeconds: 60, LeastSeconds: 50, MostSeconds: 70, Runs: 9}}}
		}},
		"a job that has not started": {func(p *corev1.Pod) {
			p.Annotations[extension.AnnotationJobPrediction] = `{"duration":{"likelySeconds":60}}`
		}, func(*Pod) {}},
		"a prediction that cannot be read counts as absent": {func(p *corev1.Pod) {
			p.Annotations[extension.AnnotationJobPrediction] = `{"duration":[]}`
			p.Status.StartTime = &metav1.Time{Time: noon}
		}, func(*Pod) {}},
		"without a label, as Kubernetes runs it": {func(p *corev1.Pod) { delete(p.Labels, extension.LabelPodQoS) }, func(*Pod) {}},
		"guaranteed without a label is no class": {func(p *corev1.Pod) {
			delete(p.Labels, extension.LabelPodQoS)
			p.Status.QOSClass = corev1.PodQOSGuaranteed
		}, func(p *Pod) { p.QoS = extension.QoSNone }},
		"the default of its band": {func(p *corev1.Pod) { p.Spec.Priority, p.Spec.PriorityClassName = nil, "koord-mid" }, func(p *Pod) {
			p.Band, p.Priority, p.SubPriority = extension.PriorityMid, 7500, 7500
		}},
		"done": {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, func(p *Pod) { p.Active = false }},
		"deleted, to be gone in half a minute": {func(p *corev1.Pod) {
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: noon.Add(30 * time.Second)}, new(int64(30))
		}, func(p *Pod) { p.Leaving, p.LeavingSince = true, noon }},
		"critical by priority": {func(p *corev1.Pod) { p.Spec.Priority = new(int32(2_000_000_000)) }, func(p *Pod) {
			p.Band, p.Priority, p.SubPriority, p.Critical = extension.PriorityBatch, 2_000_000_000, 2_000_000_000, "it is a critical pod"
		}},
		"critical by class": {func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-node-critical" }, func(p *Pod) { p.Critical = "it is a critical pod" }},
		"a static pod":      {func(p *corev1.Pod) { p.Annotations["kubernetes.io/config.source"] = "file" }, func(p *Pod) { p.Critical = "it is a static pod" }},
		"a mirror pod":      {func(p *corev1.Pod) { p.Annotations["kubernetes.io/config.mirror"] = "x" }, func(p *Pod) { p.Critical = "it is a static pod" }},
		"a pod of the API":  {func(p *corev1.Pod) { p.Annotations["kubernetes.io/config.source"] = "api" }, func(*Pod) {}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod, want := spark(), plain
			tc.change(pod)
			tc.want(&want)
			if diff := cmp.Diff(want, PodOf(pod, used)); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzPodOf: whatever labels and annotations say, a pod is read, and a policy that cannot be read allows nothing.
func FuzzPodOf(f *testing.F) {
	f.Add(`["CPUEvict"]`, "5", "7", "true")
	f.Add(`{`, "-9999999999", "", "yes")
	f.Fuzz(func(t *testing.T, policy, evictionPriority, subPriority, enabled string) {
		pod := spark()
		pod.Annotations[extension.AnnotationPodEvictPolicy], pod.Annotations[extension.AnnotationPodEvictionPriority] = policy, evictionPriority
		pod.Labels[extension.LabelPodPriority], pod.Labels[extension.LabelPodEvictEnabled] = subPriority, enabled
		got := PodOf(pod, nil)
		for _, feature := range Features() {
			allowed, err := extension.IsEvictionAllowed(pod.Annotations, string(feature))
			if got.Allowed[feature] != (allowed && err == nil) {
				t.Errorf("%s allowed %v by policy %q", feature, got.Allowed[feature], policy)
			}
		}
		if got.Agrees != (enabled == "true") {
			t.Errorf("label %q agrees", enabled)
		}
	})
}
