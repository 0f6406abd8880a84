package node

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestNodesThatCannotBeReadAreRefusedUnlessTheyJoin(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	validator := &Validator{Decoder: admission.NewDecoder(scheme)}
	const wrong = `{"metadata":{"name":"n","annotations":{"node.koordinator.sh/reservation":"{"}}}`
	tests := map[string]struct {
		operation        admissionv1.Operation
		subresource      string
		old, object      string
		wantRefused      bool
		wantWarningCount int
	}{
		"an annotation that is made unreadable": {admissionv1.Update, "", plain, wrong, true, 0},
		"an annotation that was unreadable":     {admissionv1.Update, "", wrong, wrong, false, 0},
		"an annotation that is mended":          {admissionv1.Update, "", wrong, plain, false, 0},
		"a node that joins":                     {admissionv1.Create, "", "", wrong, false, 1},
		"a status":                              {admissionv1.Update, "status", plain, wrong, false, 0},
		"a node that goes":                      {admissionv1.Delete, "", wrong, "", false, 0},
		"not a node":                            {admissionv1.Update, "", plain, `{"status":7}`, false, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			response := validator.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: test.operation, SubResource: test.subresource,
				Object: runtime.RawExtension{Raw: []byte(test.object)}, OldObject: runtime.RawExtension{Raw: []byte(test.old)}}})
			if response.Allowed == test.wantRefused || len(response.Warnings) != test.wantWarningCount {
				t.Errorf("answer is %+v", response)
			}
			if test.wantRefused && !strings.Contains(response.Result.Message, "node.koordinator.sh/reservation: ") {
				t.Errorf("the refusal is %q", response.Result.Message)
			}
		})
	}
}
