package webhooks

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

func prodPod(namespace string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: namespace},
		Spec: corev1.PodSpec{Priority: new(int32(9500)), Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
		}}}},
	}
}

func TestFactorsOfNamespacesAndProfiles(t *testing.T) {
	namespace := func(name, factor string) *corev1.Namespace {
		out := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
		if factor != "" {
			out.Labels[extension.ProdOvercommitFactor] = factor
		}
		return out
	}
	profile := &configv1alpha1.ClusterColocationProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "quarter", Annotations: map[string]string{extension.ProdOvercommitFactor: "4"}},
		Spec:       configv1alpha1.ClusterColocationProfileSpec{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"quarter": "true"}}},
	}
	quartered := namespace("quartered", "2")
	quartered.Labels["quarter"] = "true"
	reader := cluster(t, namespace("half", "2"), namespace("whole", ""), namespace("broken", "x"), quartered, profile).Build()
	decoder := admission.NewDecoder(newScheme(t))
	profiles := &podMutator{reader: reader, options: options(), decoder: decoder}
	namespaces := &podOvercommitter{reader: reader, decoder: decoder}
	tests := map[string]struct{ namespace, wantCPU, wantSource string }{
		"by the namespace": {"half", "2", "namespace/half"},
		"not at all":       {"whole", "4", ""},
		"a factor that cannot be read does nothing":    {"broken", "4", ""},
		"the profile's factor wins over the namespace": {"quartered", "1", "profile/quarter"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := prodPod(test.namespace)
			for _, handler := range []admission.Handler{profiles, namespaces, profiles, namespaces} {
				request := requestOf(t, admissionv1.Create, pod, nil)
				pod = patched(t, request, handler.Handle(t.Context(), request))
			}
			noted, err := extension.GetProdOvercommit(pod.Annotations)
			if err != nil {
				t.Fatal(err)
			}
			source := ""
			if noted != nil {
				source = noted.Source
			}
			if cpu := pod.Spec.Containers[0].Resources.Requests.Cpu().String(); cpu != test.wantCPU || source != test.wantSource {
				t.Errorf("requests %s by %q, want %s by %q", cpu, source, test.wantCPU, test.wantSource)
			}
		})
	}
}

func TestOvercommitLeavesOtherRequestsAlone(t *testing.T) {
	handler := &podOvercommitter{reader: cluster(t).Build(), decoder: admission.NewDecoder(newScheme(t))}
	if response := handler.Handle(t.Context(), requestOf(t, admissionv1.Update, prodPod("half"), prodPod("half"))); !response.Allowed || len(response.Patches) > 0 {
		t.Errorf("an update gets %+v", response)
	}
	garbage := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(`{"spec":7}`)}}}
	if response := handler.Handle(t.Context(), garbage); response.Allowed {
		t.Error("garbage is let in")
	}
}

func TestNobodyWaitsForNodesAndNamespacesWithoutReason(t *testing.T) {
	o := options()
	o.Nodes = true
	byName := map[string]admissionregistrationv1.MutatingWebhook{}
	for _, webhook := range o.mutating(anyPod(o.profileOptions().ExemptNamespaces), true, quotaNamespaces{}, []byte("bundle")) {
		byName[webhook.Name] = webhook
	}
	node := byName[mutateNodeStatusName]
	if *node.FailurePolicy != admissionregistrationv1.Ignore || *node.TimeoutSeconds > 2 || node.Rules[0].Resources[0] != "nodes/status" ||
		!strings.Contains(node.MatchConditions[0].Expression, extension.AnnotationNodeResourceAmplificationRatio) {
		t.Errorf("webhook of nodes is %+v", node)
	}
	pod := byName[overcommitPodName]
	if *pod.FailurePolicy != admissionregistrationv1.Ignore || len(pod.NamespaceSelector.MatchExpressions) != 2 {
		t.Errorf("webhook of overcommitted namespaces is %+v", pod)
	}
	o.Nodes, o.SkipResources = false, true
	for _, webhook := range o.mutating(anyPod(o.profileOptions().ExemptNamespaces), true, quotaNamespaces{}, nil) {
		if webhook.Name == mutateNodeStatusName || webhook.Name == overcommitPodName {
			t.Errorf("%s is registered although it is turned off", webhook.Name)
		}
	}
}
