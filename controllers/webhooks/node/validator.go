package node

import (
	"context"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/decision/admission/nodevalidation"
)

// ValidatePath is the path of the webhook for the labels and annotations of nodes.
const ValidatePath = "/validate-node"

// Validator refuses changes of nodes after which their labels and annotations could not be read, or contradict each other. A
// node that joins is warned about and never refused. It reads nothing but the request, and is safe for concurrent use.
type Validator struct {
	// Decoder of nodes; required.
	Decoder admission.Decoder
}

// Handle answers one request. What cannot be decoded is allowed: it is for the API server to refuse.
func (v *Validator) Handle(ctx context.Context, request admission.Request) admission.Response {
	create := request.Operation == admissionv1.Create
	if request.SubResource != "" || !create && request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	in := nodevalidation.Input{Node: &corev1.Node{}}
	err := v.Decoder.Decode(request, in.Node)
	if err == nil && !create {
		in.Old = &corev1.Node{}
		err = v.Decoder.DecodeRaw(request.OldObject, in.Old)
	}
	if err != nil {
		klog.FromContext(ctx).Error(err, "Failed to decode a node; its labels and annotations are not validated", "node", request.Name)
		return admission.Allowed("")
	}
	findings := nodevalidation.Validate(in)
	texts := make([]string, len(findings))
	for i := range findings {
		texts[i] = findings[i].Text()
	}
	if len(findings) == 0 || create {
		return admission.Allowed("").WithWarnings(texts...)
	}
	return admission.Denied(strings.Join(texts, "; ") + findings[0].Code.Remedy())
}
