package node

import (
	"encoding/json"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	stored = `{"metadata":{"name":"n","annotations":{"node.koordinator.sh/resource-amplification-ratio":"{\"cpu\":1.50}"}},"status":{"allocatable":{"cpu":"1"},"fieldOfTomorrow":1}}`
	plain  = `{"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1"}}}`
)

func TestStatusesAreAmplifiedAndNeverRefused(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	handler := &Handler{Decoder: admission.NewDecoder(scheme)}
	tests := map[string]struct {
		operation   admissionv1.Operation
		subresource string
		old, object string
		wantCPU     string
		wantRaw     string
	}{
		"amplified":           {admissionv1.Update, "status", stored, stored, "1500m", `{"cpu":"1"}`},
		"not amplified":       {admissionv1.Update, "status", plain, plain, "1", ""},
		"not a status":        {admissionv1.Update, "", stored, stored, "1", ""},
		"a node that is new":  {admissionv1.Create, "status", "", stored, "1", ""},
		"not a node":          {admissionv1.Update, "status", stored, `{"status":7}`, "", ""},
		"nothing to compare":  {admissionv1.Update, "status", "", stored, "1", ""},
		"garbage to compare":  {admissionv1.Update, "status", `{"status":7}`, stored, "1", ""},
		"nothing was written": {admissionv1.Update, "status", stored, "", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: test.operation, SubResource: test.subresource,
				Object: runtime.RawExtension{Raw: []byte(test.object)}, OldObject: runtime.RawExtension{Raw: []byte(test.old)}}}
			response := handler.Handle(t.Context(), request)
			if !response.Allowed {
				t.Fatalf("refused: %+v", response)
			}
			if test.wantCPU == "" {
				return
			}
			raw := []byte(test.object)
			if len(response.Patches) > 0 {
				text, err := json.Marshal(response.Patches)
				if err != nil {
					t.Fatal(err)
				}
				patch, err := jsonpatch.DecodePatch(text)
				if err != nil {
					t.Fatal(err)
				}
				if raw, err = patch.Apply(raw); err != nil {
					t.Fatal(err)
				}
			}
			var got corev1.Node
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			if cpu := got.Status.Allocatable.Cpu().String(); cpu != test.wantCPU || got.Annotations["node.koordinator.sh/raw-allocatable"] != test.wantRaw {
				t.Errorf("cpu %s, annotations %v; want %s, %s", cpu, got.Annotations, test.wantCPU, test.wantRaw)
			}
		})
	}
}
