package node

import (
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/decision/noderesource/amplification"
)

// Path of the webhook.
const Path = "/mutate-node-status"

// Handler amplifies the allocatable of nodes whose status is written. It reads nothing but the request, and is safe for
// concurrent use.
type Handler struct {
	// Decoder of nodes; required.
	Decoder admission.Decoder
}

// Handle answers one request; the answer always allows it.
func (h *Handler) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Update || request.SubResource != "status" {
		return admission.Allowed("")
	}
	response, err := h.show(ctx, request)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Failed to amplify a node; its status is stored unchanged", "node", request.Name)
		return admission.Allowed("")
	}
	return response
}

func (h *Handler) show(ctx context.Context, request admission.Request) (admission.Response, error) {
	var before, node corev1.Node
	if err := h.Decoder.Decode(request, &node); err != nil {
		return admission.Response{}, err
	}
	if err := h.Decoder.DecodeRaw(request.OldObject, &before); err != nil {
		return admission.Response{}, err
	}
	shown, trace := amplification.Show(&before, &node)
	// Both are compared as this program knows nodes, so that a field of a newer API server is not taken for one to remove.
	old, err := json.Marshal(&node)
	if err != nil {
		return admission.Response{}, err
	}
	changed, err := json.Marshal(shown)
	if err != nil {
		return admission.Response{}, err
	}
	klog.FromContext(ctx).V(4).Info("Amplified a node", "node", request.Name, "trace", trace)
	return admission.PatchResponseFromRaw(old, changed), nil
}
