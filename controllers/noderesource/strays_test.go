package noderesource

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// devices is a reader of one Device, or of an error.
type devices struct {
	client.Reader
	err error
}

func (d devices) Get(_ context.Context, key types.NamespacedName, object client.Object, _ ...client.GetOption) error {
	if d.err == nil {
		*object.(*schedulingv1alpha1.Device) = schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{Name: key.Name}}
	}
	return d.err
}

func TestExplanationsShowPodsOnDevicesThatAreGone(t *testing.T) {
	pod := testPod()
	pod.Annotations = map[string]string{extension.AnnotationDeviceAllocated: `{"gpu":[{"minor":3,"resources":{"koordinator.sh/gpu-core":"100"}}]}`}
	pod.Spec.Containers[0].Resources.Requests[extension.ResourceGPU] = resource.MustParse("100")
	config := store(t, enabled)
	tests := map[string]struct {
		reader         client.Reader
		wantFinding    string
		wantIncomplete string
	}{
		"nobody looks":          {},
		"the device is gone":    {reader: devices{}, wantFinding: "holds gpu 3 of node node-a: the node no longer has the device."},
		"there are no Devices":  {reader: devices{err: &meta.NoKindMatchError{}}},
		"Devices are forbidden": {reader: devices{err: errors.New("forbidden")}, wantIncomplete: "failed to check whether pods hold removed devices: forbidden"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, config, testNode(nil), testMetric(time.Minute), pod)
			explainer := NewExplainer(h.client, config, clocktesting.NewFakePassiveClock(noon), types.NamespacedName{}).WithDevices(test.reader)
			status, err := explainer.ExplainNode(t.Context(), diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "node-a"})
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			for _, one := range status.Findings {
				if one.Code == "KOORD1144" {
					found += one.Message
				}
			}
			if (found == "") != (test.wantFinding == "") || !strings.Contains(found, test.wantFinding) {
				t.Errorf("found %q, want %q", found, test.wantFinding)
			}
			if got := strings.Join(status.Incomplete, "; "); got != test.wantIncomplete {
				t.Errorf("incomplete: %q, want %q", got, test.wantIncomplete)
			}
		})
	}
}
