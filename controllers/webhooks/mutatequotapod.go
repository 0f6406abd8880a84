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
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/colocationprofile/policy"
	"koordinator.sh/koord/decision/quotaprofile"
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
	return patchBetween(&pod, confined)
}

// treeOf is the tree that the pod names, or that of the quota it names. Of quotas of one name the oldest counts.
func (m *quotaPodMutator) treeOf(ctx context.Context, pod *corev1.Pod) (string, error) {
	if tree := pod.Labels[extension.LabelQuotaTreeID]; tree != "" {
		return tree, nil
	}
	name := pod.Labels[extension.LabelQuotaName]
	if name == "" {
		return "", nil
	}
	var quotas schedulingsigsv1alpha1.ElasticQuotaList
	if err := m.reader.List(ctx, &quotas, client.MatchingFields{quotaNameIndex: name}, client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("list quotas named %q: %w", name, err)
	}
	var counts *schedulingsigsv1alpha1.ElasticQuota
	for i := range quotas.Items {
		if counts == nil || quotas.Items[i].CreationTimestamp.Before(&counts.CreationTimestamp) {
			counts = &quotas.Items[i]
		}
	}
	if counts == nil {
		return "", nil
	}
	return counts.Labels[extension.LabelQuotaTreeID], nil
}

// mutatingQuotaPods is the webhook for pods that name a quota or a tree. Pods that name neither ask nobody.
func (o *Options) mutatingQuotaPods(bundle []byte) []admissionregistrationv1.MutatingWebhook {
	if !o.QuotaTrees {
		return nil
	}
	named := fmt.Sprintf("has(object.metadata.labels) && (%q in object.metadata.labels || %q in object.metadata.labels)", extension.LabelQuotaName, extension.LabelQuotaTreeID)
	return []admissionregistrationv1.MutatingWebhook{{
		Name:               "mutate-pod-quota-tree.koordinator.sh",
		ClientConfig:       o.clientConfig(MutateQuotaPodPath, bundle),
		Rules:              pods(admissionregistrationv1.Create),
		FailurePolicy:      new(admissionregistrationv1.Fail),
		NamespaceSelector:  policy.OutsideOf(o.profileOptions().ExemptNamespaces),
		ReinvocationPolicy: new(admissionregistrationv1.IfNeededReinvocationPolicy),
		MatchConditions:    []admissionregistrationv1.MatchCondition{{Name: "names-a-quota", Expression: named}},
	}}
}
