package configmap

import (
	"context"
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestTheConfigurationIsDeletedWithTheSystemOnly(t *testing.T) {
	const registration = "koordinator-admission"
	installed := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: registration}}
	leaving := installed.DeepCopy()
	leaving.DeletionTimestamp, leaving.Finalizers = new(metav1.Now()), []string{"foregroundDeletion"}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "koordinator-system"}}
	ending := space.DeepCopy()
	ending.DeletionTimestamp, ending.Finalizers = new(metav1.Now()), []string{"kubernetes"}
	tests := map[string]struct {
		object      *corev1.ConfigMap
		cluster     []client.Object
		fails       bool
		wantRefused bool
	}{
		"the system stays":                      {object: ours(), cluster: []client.Object{installed, space}, wantRefused: true},
		"another ConfigMap":                     {object: configMap("koordinator-system", "other"), cluster: []client.Object{installed, space}},
		"its name in another namespace":         {object: configMap("default", "slo-controller-config"), cluster: []client.Object{installed, space}},
		"the release was deleted":               {object: ours(), cluster: []client.Object{space}},
		"the release is being deleted":          {object: ours(), cluster: []client.Object{leaving, space}},
		"the namespace is being deleted":        {object: ours(), cluster: []client.Object{installed, ending}},
		"the API server does not say what goes": {object: ours(), cluster: []client.Object{installed, space}, fails: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := scheme(t)
			if err := admissionregistrationv1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			live := client.Client(fake.NewClientBuilder().WithScheme(s).WithObjects(test.cluster...).Build())
			if test.fails {
				live = interceptor.NewClient(live.(client.WithWatch), interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return errors.New("unavailable")
				}})
			}
			h := &Handler{Decoder: admission.NewDecoder(s), Leaving: Leaving(live, "koordinator-system", registration)}
			response := h.Handle(t.Context(), request(t, admissionv1.Delete, nil, test.object))
			if response.Allowed == test.wantRefused || test.wantRefused && !strings.Contains(response.Result.Message, "KOORD0217") {
				t.Errorf("allowed %t with %q, want refused: %t", response.Allowed, response.Result.Message, test.wantRefused)
			}
		})
	}
}
