package recommend

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// horizontal is a HorizontalPodAutoscaler of Deployment web with metrics in JSON.
func horizontal(t *testing.T, metrics string) func(Autoscalers) {
	t.Helper()
	h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "by-load"}}
	h.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	if err := json.Unmarshal([]byte(metrics), &h.Spec.Metrics); err != nil {
		t.Fatal(err)
	}
	return func(a Autoscalers) { a.AddHorizontal(h) }
}

// vertical is a VerticalPodAutoscaler with a spec in JSON.
func vertical(t *testing.T, spec string) func(Autoscalers) {
	t.Helper()
	v := &VerticalAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "by-usage"}}
	if err := json.Unmarshal([]byte(spec), &v.Spec); err != nil {
		t.Fatal(err)
	}
	return func(a Autoscalers) { a.AddVertical(v) }
}

// owned is a pod of Deployment web.
func owned(requests corev1.ResourceList) *corev1.Pod {
	pod := running("web-1", requests, nil)
	pod.Labels = map[string]string{"pod-template-hash": "abc"}
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-abc", Controller: new(true)}}
	return pod
}

func TestWhatAutoscalersHoldIsNotResized(t *testing.T) {
	const (
		target   = `"targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}`
		byCPU    = `{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}`
		setsBoth = `VerticalPodAutoscaler "by-usage" sets cpu and memory`
		scales   = `HorizontalPodAutoscaler "by-load" scales by the utilization of cpu, which is relative to requests`
	)
	tests := map[string]struct {
		autoscalers  []func(Autoscalers)
		requests     corev1.ResourceList
		wantRequests corev1.ResourceList
		wantSkip     string
		wantHolds    string
	}{
		"no autoscaler": {wantRequests: list("1", "1Gi")},
		"the VPA of another workload": {
			autoscalers:  []func(Autoscalers){vertical(t, `{"targetRef": {"kind": "Deployment", "name": "api"}}`)},
			wantRequests: list("1", "1Gi"),
		},
		"a VPA of the ReplicaSet": {
			autoscalers: []func(Autoscalers){vertical(t, `{"targetRef": {"kind": "ReplicaSet", "name": "web-abc"}}`)},
			wantSkip:    setsBoth, wantHolds: setsBoth,
		},
		"a VPA without a mode sets both": {
			autoscalers: []func(Autoscalers){vertical(t, `{`+target+`}`)}, wantSkip: setsBoth, wantHolds: setsBoth,
		},
		"a VPA that resizes in place": {
			autoscalers: []func(Autoscalers){vertical(t, `{`+target+`, "updatePolicy": {"updateMode": "InPlaceOrRecreate"}}`)}, wantSkip: setsBoth, wantHolds: setsBoth,
		},
		"a VPA that sets what new pods get": {
			autoscalers: []func(Autoscalers){vertical(t, `{`+target+`, "updatePolicy": {"updateMode": "Initial"}}`)}, wantSkip: setsBoth, wantHolds: setsBoth,
		},
		"a VPA that only recommends": {
			autoscalers:  []func(Autoscalers){vertical(t, `{`+target+`, "updatePolicy": {"updateMode": "Off"}}`)},
			wantRequests: list("1", "1Gi"),
		},
		"a VPA that only boosts the start": {
			autoscalers:  []func(Autoscalers){vertical(t, `{`+target+`, "updatePolicy": {"updateMode": "Off"}, "startupBoost": {"cpu": {"type": "Factor", "factor": 2}}}`)},
			wantRequests: list("", "1Gi"), wantHolds: `VerticalPodAutoscaler "by-usage" sets cpu`,
		},
		"a VPA of memory": {
			autoscalers:  []func(Autoscalers){vertical(t, `{`+target+`, "resourcePolicy": {"containerPolicies": [{"containerName": "*", "controlledResources": ["memory"]}]}}`)},
			wantRequests: list("1", ""), wantHolds: `VerticalPodAutoscaler "by-usage" sets memory`,
		},
		"a VPA that leaves out the container": {
			autoscalers:  []func(Autoscalers){vertical(t, `{`+target+`, "resourcePolicy": {"containerPolicies": [{"containerName": "main", "mode": "Off"}]}}`)},
			wantRequests: list("1", "1Gi"),
		},
		"a VPA of this container alone": {
			autoscalers: []func(Autoscalers){vertical(t, `{`+target+`, "resourcePolicy": {"containerPolicies": [{"containerName": "*", "mode": "Off"}, {"containerName": "main"}]}}`)},
			wantSkip:    setsBoth, wantHolds: setsBoth,
		},
		"a VPA without a target": {
			autoscalers: []func(Autoscalers){vertical(t, `{}`)}, wantRequests: list("1", "1Gi"),
		},
		"an HPA by the utilization of cpu": {
			autoscalers: []func(Autoscalers){horizontal(t, `[`+byCPU+`]`)}, wantRequests: list("", "1Gi"), wantHolds: scales,
		},
		"an HPA by the utilization of a resource that would not change": {
			autoscalers: []func(Autoscalers){horizontal(t, `[`+byCPU+`]`)}, requests: list("1", "256Mi"), wantRequests: list("", "1Gi"), wantHolds: scales,
		},
		"an HPA by the utilization of all that would change": {
			autoscalers: []func(Autoscalers){horizontal(t, `[`+byCPU+`]`)}, requests: list("4", "1Gi"), wantSkip: scales, wantHolds: scales,
		},
		"an HPA by the usage of cpu": {
			autoscalers:  []func(Autoscalers){horizontal(t, `[{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1"}}}]`)},
			wantRequests: list("1", "1Gi"),
		},
		"an HPA by a metric of its own": {
			autoscalers:  []func(Autoscalers){horizontal(t, `[{"type": "Pods", "pods": {"metric": {"name": "requests"}, "target": {"type": "AverageValue", "averageValue": "1"}}}]`)},
			wantRequests: list("1", "1Gi"),
		},
		"an HPA by the memory of this container, and the cpu of all": {
			autoscalers: []func(Autoscalers){horizontal(t, `[{"type": "ContainerResource", "containerResource": {"container": "main", "name": "memory", "target": {"type": "Utilization"}}}, `+byCPU+`]`)},
			wantSkip:    `HorizontalPodAutoscaler "by-load" scales by the utilization of cpu and memory, which is relative to requests`,
			wantHolds:   `HorizontalPodAutoscaler "by-load" scales by the utilization of cpu and memory, which is relative to requests`,
		},
		"an HPA by the cpu of another container": {
			autoscalers:  []func(Autoscalers){horizontal(t, `[{"type": "ContainerResource", "containerResource": {"container": "proxy", "name": "cpu", "target": {"type": "Utilization"}}}]`)},
			wantRequests: list("1", "1Gi"),
		},
		"who sets a resource is named before who scales by it": {
			autoscalers: []func(Autoscalers){horizontal(t, `[`+byCPU+`]`), vertical(t, `{`+target+`}`)}, wantSkip: setsBoth, wantHolds: setsBoth,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := owned(test.requests)
			if test.requests == nil {
				pod = owned(list("4", "256Mi"))
			}
			autoscalers := Autoscalers{}
			for _, add := range test.autoscalers {
				add(autoscalers)
			}
			plan := Resizes(ResizeInput{
				At: noon, Options: DefaultResizeOptions(), Pods: []*corev1.Pod{pod}, Recommendations: wish(7), Autoscalers: autoscalers,
			})
			var requests corev1.ResourceList
			for _, resize := range plan.Resizes {
				requests = resize.Containers[0].Requests
			}
			if diff := cmp.Diff(test.wantRequests, requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			skip := ""
			for _, s := range plan.Skipped {
				skip = s.Reason
			}
			if skip != test.wantSkip {
				t.Errorf("skipped because %q, want %q", skip, test.wantSkip)
			}
			if got := Sentence(autoscalers.Holds([]*corev1.Pod{pod})); got != test.wantHolds {
				t.Errorf("autoscalers hold: %q, want %q", got, test.wantHolds)
			}
		})
	}
}
