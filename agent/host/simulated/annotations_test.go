package simulated

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

func TestFromPod(t *testing.T) {
	batch := corev1.ResourceList{extension.BatchCPU: resource.MustParse("3000"), extension.BatchMemory: resource.MustParse("6Gi")}
	plain := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	controller := metav1.OwnerReference{Kind: "ReplicaSet", Name: "web-6d4cf56db6", Controller: new(true)}
	tests := map[string]struct {
		priority    int32
		annotations map[string]string
		owner       *metav1.OwnerReference
		resources   corev1.ResourceRequirements
		want        Pod
		wantErrs    []string
	}{
		"a service": {
			priority: 9500, resources: corev1.ResourceRequirements{Requests: plain},
			want: Pod{Band: extension.PriorityProd, Profile: ProfileService, Request: amount(4, 8), Workload: "shop/web-6d4cf56db6-x2x9k"},
		},
		"a Deployment's replica is named after it": {
			priority: 9500, owner: &controller,
			want: Pod{Band: extension.PriorityProd, Profile: ProfileService, Workload: "shop/web"},
		},
		"a batch pod is simulated in its tier": {
			priority: 5500, resources: corev1.ResourceRequirements{Requests: batch, Limits: batch},
			want: Pod{Band: extension.PriorityBatch, Profile: ProfileBatch, Request: amount(3, 6), Limit: amount(3, 6), Workload: "shop/web-6d4cf56db6-x2x9k"},
		},
		"annotations": {
			priority:    9500,
			annotations: map[string]string{AnnotationProfile: "hot", AnnotationCPUPercent: "95.5", AnnotationAge: "48h"},
			want: Pod{
				Band: extension.PriorityProd, Profile: ProfileHot, CPUPercent: 95.5, Workload: "shop/web-6d4cf56db6-x2x9k",
				Started: noon.Add(-48 * time.Hour),
			},
		},
		"annotations that make no sense are named and left out": {
			priority:    9500,
			annotations: map[string]string{AnnotationProfile: "wild", AnnotationCPUPercent: "NaN", AnnotationAge: "-1h"},
			want:        Pod{Band: extension.PriorityProd, Profile: ProfileService, Workload: "shop/web-6d4cf56db6-x2x9k"},
			wantErrs:    []string{`"wild"`, `"NaN"`, `"-1h"`, "shop/web-6d4cf56db6-x2x9k"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: "shop", Name: "web-6d4cf56db6-x2x9k", UID: "uid", Annotations: test.annotations,
					Labels: map[string]string{"pod-template-hash": "6d4cf56db6"}, CreationTimestamp: metav1.NewTime(noon),
				},
				Spec: corev1.PodSpec{Priority: &test.priority, Containers: []corev1.Container{{Resources: test.resources}}},
			}
			if test.owner != nil {
				pod.OwnerReferences = []metav1.OwnerReference{*test.owner}
			}
			got, err := FromPod(pod, Timeline{})
			test.want.UID, test.want.Name = "uid", "shop/web-6d4cf56db6-x2x9k"
			if test.want.Started.IsZero() {
				test.want.Started = noon
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
			checkErrs(t, err, test.wantErrs)
		})
	}
}

func TestFromNode(t *testing.T) {
	tests := map[string]struct {
		annotations map[string]string
		want        Node
		wantErrs    []string
	}{
		"no annotations":  {},
		"hot":             {annotations: map[string]string{AnnotationHotPercent: "85"}, want: Node{HotPercent: 85}},
		"frozen":          {annotations: map[string]string{AnnotationFreezeMetrics: "true"}, want: Node{Frozen: true, FrozenAge: 20 * time.Minute, StaleOnly: true}},
		"frozen long ago": {annotations: map[string]string{AnnotationFreezeMetrics: "2h"}, want: Node{Frozen: true, FrozenAge: 2 * time.Hour}},
		"not frozen":      {annotations: map[string]string{AnnotationFreezeMetrics: "false"}},
		"faulty":          {annotations: map[string]string{AnnotationReport: "absurd"}, want: Node{Fault: FaultAbsurd}},
		"all of them wrong": {
			annotations: map[string]string{AnnotationHotPercent: "101", AnnotationFreezeMetrics: "maybe", AnnotationReport: "nan"},
			wantErrs:    []string{`"101"`, `"maybe"`, `"nan"`, `"sim-1"`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: "sim-1", Annotations: test.annotations},
				Status: corev1.NodeStatus{Capacity: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"),
				}},
			}
			got, err := FromNode(node)
			test.want.Name, test.want.Capacity = "sim-1", amount(16, 64)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("node (-want +got):\n%s", diff)
			}
			checkErrs(t, err, test.wantErrs)
		})
	}
}

func checkErrs(t *testing.T, err error, want []string) {
	t.Helper()
	if (err != nil) != (len(want) > 0) {
		t.Fatalf("error = %v, want one: %t", err, len(want) > 0)
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not name %s", err, part)
		}
	}
}

func TestTimeline(t *testing.T) {
	tests := map[string]struct {
		timeline Timeline
		real     time.Time
		want     time.Time
	}{
		"real time":             {timeline: Timeline{}, real: noon, want: noon},
		"an hour a minute":      {timeline: Timeline{Origin: noon, Speed: 60}, real: noon.Add(time.Minute), want: noon.Add(time.Hour)},
		"the past runs as fast": {timeline: Timeline{Origin: noon, Speed: 60}, real: noon.Add(-time.Minute), want: noon.Add(-time.Hour)},
		"it ends somewhere":     {timeline: Timeline{Origin: noon, Speed: MaxSpeed}, real: noon.AddDate(1, 0, 0), want: noon.Add(1 << 62)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.timeline.At(test.real); !got.Equal(test.want) {
				t.Errorf("At() = %s, want %s", got, test.want)
			}
		})
	}
}
