package webhooks

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/extension"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	"koordinator.sh/koord/controllers/webhooks/podpatch"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/admission/quotaprofile"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// MutateQuotaPodPath is the path of the webhook that confines pods of a quota tree.
const MutateQuotaPodPath = "/mutate-pod-quota-tree"

// quotaPodMutator confines pods that are created to the nodes of their quota tree.
type quotaPodMutator struct {
	reader  client.Reader
	decoder admission.Decoder
}

// Handle answers one request.
func (m *quotaPodMutator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create || request.SubResource != "" {
		return admission.Allowed("")
	}
	var pod corev1.Pod
	if err := m.decoder.Decode(request, &pod); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode pod: %w", err))
	}
	pod.Namespace = request.Namespace
	tree, err := m.treeOf(ctx, &pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if tree == "" {
		return admission.Allowed("")
	}
	var profiles quotav1alpha1.ElasticQuotaProfileList
	if err := m.reader.List(ctx, &profiles, client.UnsafeDisableDeepCopy); err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("list quota profiles: %w", err))
	}
	affinity, changed := quotaprofile.Confine(&pod, tree, profiles.Items)
	if !changed {
		return admission.Allowed("")
	}
	confined := pod.DeepCopy()
	confined.Spec.Affinity = affinity
	return podpatch.Between(&pod, confined)
}

// treeOf is the tree that the pod names, or that of the quota it asks for. Of quotas of one name the oldest counts.
func (m *quotaPodMutator) treeOf(ctx context.Context, pod *corev1.Pod) (string, error) {
	if tree := quota.Namesakes(nil).TreeOf(pod); tree != "" {
		return tree, nil
	}
	_, named, err := readNamed(ctx, m.reader, pod)
	return named.TreeOf(pod), err
}

// mutatingQuotaPods are the webhooks for pods that name a quota or a tree, and for those that name neither in namespaces that belong to
// a quota of a tree. Pods of all other namespaces that name neither skip them. Pods without co-location are admitted while
// koord-manager does not answer.
func (o *Options) mutatingQuotaPods(namespaces quotaNamespaces, bundle []byte) []admissionregistrationv1.MutatingWebhook {
	if !o.QuotaTrees {
		return nil
	}
	named := fmt.Sprintf("has(object.metadata.labels) && (%q in object.metadata.labels || %q in object.metadata.labels)", extension.LabelQuotaName, extension.LabelQuotaTreeID)
	exempt := o.profileOptions().ExemptNamespaces
	webhooks := []admissionregistrationv1.MutatingWebhook{{
		Name:              "mutate-pod-quota-tree.koordinator.sh",
		FailurePolicy:     new(admissionregistrationv1.Fail),
		NamespaceSelector: policy.OutsideOf(exempt),
		MatchConditions:   []admissionregistrationv1.MatchCondition{{Name: "names-a-quota", Expression: named}},
	}}
	if selector := selecting(namespaces.trees, exempt); selector != nil {
		webhooks = append(webhooks, admissionregistrationv1.MutatingWebhook{
			Name:              "mutate-pod-quota-tree-of-the-namespace.koordinator.sh",
			FailurePolicy:     new(admissionregistrationv1.Ignore),
			NamespaceSelector: selector,
			MatchConditions:   []admissionregistrationv1.MatchCondition{{Name: "names-no-quota", Expression: "!(" + named + ")"}},
		})
	}
	for i := range webhooks {
		w := &webhooks[i]
		w.ClientConfig, w.Rules = o.clientConfig(MutateQuotaPodPath, bundle), pods(admissionregistrationv1.Create)
		w.ReinvocationPolicy = new(admissionregistrationv1.IfNeededReinvocationPolicy)
	}
	return webhooks
}
