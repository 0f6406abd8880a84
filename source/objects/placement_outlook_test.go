package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// TestOutlookOfCopies has two copies of 2 cores of batch-cpu on a node that offers 6 cores in the end, of which 1 is requested, and a
// waiting pod gets 2 before them.
func TestOutlookOfCopies(t *testing.T) {
	pod := func(name string, of corev1.ResourceName) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{of: resource.MustParse("2000")}},
		}}}}
	}
	answers := []diagnosticsv1alpha1.NodeExplanation{{
		Spec: diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "n1"},
		Status: diagnosticsv1alpha1.NodeExplanationStatus{Incomplete: []string{"half"}, Outlook: []diagnosticsv1alpha1.OfferOutlook{{
			Resource: string(extension.BatchCPU), Offered: 7000, Requested: 1000, Predictor: "seasonal",
			Steps: []diagnosticsv1alpha1.OfferStep{{WithinSeconds: 86400, Offered: 6000}},
		}}},
	}}
	tests := map[string]struct {
		waiting            string
		requests           corev1.ResourceName
		wantNodes, wantAsk []string
		wantKept           int32
		wantNone           bool
	}{
		"the node is theirs":                {"", extension.BatchCPU, []string{"n1"}, []string{"batch-cpu"}, 2, false},
		"a waiting pod gets the node first": {"n1", extension.BatchCPU, []string{"n1"}, []string{"batch-cpu"}, 1, false},
		"one that gets another":             {"n2", extension.BatchCPU, []string{"n1"}, []string{"batch-cpu"}, 2, false},
		"pods of a service":                 {"", corev1.ResourceCPU, nil, nil, 0, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			copied, first := pod("executor", test.requests), pod("first", extension.BatchCPU)
			in := &PlacementSnapshot{Nodes: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}, Pods: []corev1.Pod{copied, first}, Copied: &copied}
			forecast := &diagnosticsv1alpha1.PlacementForecast{
				Copies:  &diagnosticsv1alpha1.CopiesPlacement{Placed: 2, Nodes: []diagnosticsv1alpha1.CopiesOnNode{{Name: "n1", Copies: 2}}},
				Waiting: []diagnosticsv1alpha1.WaitingPlacement{{PodPlacement: diagnosticsv1alpha1.PodPlacement{Namespace: "spark", Name: "first", Node: test.waiting}}},
			}
			nodes, resources := OutlookQuestion(in, forecast)
			if diff := cmp.Diff([][]string{test.wantNodes, test.wantAsk}, [][]string{nodes, resources}); diff != "" {
				t.Fatalf("asked are (-want +got):\n%s", diff)
			}
			OutlookOfCopies(in, forecast, answers, "")
			switch {
			case test.wantNone != (forecast.Outlook == nil):
				t.Errorf("the outlook is %+v", forecast.Outlook)
			case !test.wantNone && forecast.Outlook.Steps[1].Copies != test.wantKept:
				t.Errorf("%s, want %d", forecast.Outlook.Message, test.wantKept)
			}
			if diff := cmp.Diff([]string{"half"}, forecast.Incomplete); diff != "" {
				t.Errorf("incomplete (-want +got):\n%s", diff)
			}
		})
	}
}
