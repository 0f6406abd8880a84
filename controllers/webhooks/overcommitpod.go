package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/controllers/webhooks/podpatch"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/admission/prodovercommit"
)

// OvercommitPodPath is the path of the webhook for pods of namespaces with an overcommit factor.
const OvercommitPodPath = "/overcommit-pod"

const overcommitPodName = "overcommit-pod.koordinator.sh"

// podOvercommitter computes requests from limits in namespaces with an overcommit factor. The factor of a profile, which is
// applied before, wins.
type podOvercommitter struct {
	reader, live client.Reader
	decoder      admission.Decoder
}

// Handle answers one request.
func (o *podOvercommitter) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create || request.SubResource != "" {
		return admission.Allowed("")
	}
	var pod corev1.Pod
	if err := o.decoder.Decode(request, &pod); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode pod: %w", err))
	}
	labels, err := readNamespaceLabels(ctx, o.reader, o.live, request.Namespace)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	noted, err := extension.GetProdOvercommit(pod.Annotations)
	if byProfile := err == nil && noted != nil && strings.HasPrefix(noted.Source, "profile/"); byProfile || labels[extension.ProdOvercommitFactor] == "" {
		return admission.Allowed("")
	}
	changed := pod.DeepCopy()
	logger := klog.FromContext(ctx).V(4)
	var trace *prodovercommit.Trace
	if logger.Enabled() {
		trace = &prodovercommit.Trace{}
	}
	if err := prodovercommit.Apply(changed, labels[extension.ProdOvercommitFactor], "namespace/"+request.Namespace, trace); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	logger.Info("Set requests from limits", "namespace", request.Namespace, "pod", pod.Name, "trace", trace)
	return podpatch.Between(&pod, changed)
}

// mutatingOvercommit is the webhook for pods of namespaces with an overcommit factor. While koord-manager does not answer, a pod keeps
// its original, larger requests, so it is admitted.
func (o *Options) mutatingOvercommit(bundle []byte) []admissionregistrationv1.MutatingWebhook {
	if o.SkipResources {
		return nil
	}
	namespaces := policy.OutsideOf(o.profileOptions().ExemptNamespaces)
	namespaces.MatchExpressions = append(namespaces.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: extension.ProdOvercommitFactor, Operator: metav1.LabelSelectorOpExists,
	})
	return []admissionregistrationv1.MutatingWebhook{{
		Name:               overcommitPodName,
		ClientConfig:       o.clientConfig(OvercommitPodPath, bundle),
		Rules:              pods(admissionregistrationv1.Create),
		FailurePolicy:      new(admissionregistrationv1.Ignore),
		NamespaceSelector:  namespaces,
		ReinvocationPolicy: new(admissionregistrationv1.IfNeededReinvocationPolicy),
	}}
}
