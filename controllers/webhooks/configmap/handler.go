package configmap

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/configuration"
)

// Handler admits writes of one ConfigMap. It is safe for concurrent use.
type Handler struct {
	// Decoder of the objects in requests; required.
	Decoder admission.Decoder
	// Reader lists the nodes, normally from a cache; nil judges strategies by their selectors alone.
	Reader client.Reader
	// Context is what else a configuration is judged by, called once a request; nil for nothing.
	Context func(context.Context) Context
	// ConfigMap to look at; the zero value is koordinator-system/slo-controller-config.
	ConfigMap types.NamespacedName
	// Leaving says whether the system is being removed from the cluster, so that its configuration may go; nil admits every deletion.
	Leaving func(context.Context) (bool, error)
}

var _ admission.Handler = (*Handler)(nil)

func (h *Handler) name() types.NamespacedName {
	if h.ConfigMap.Name != "" {
		return h.ConfigMap
	}
	return types.NamespacedName{Namespace: configuration.DefaultNamespace, Name: configuration.DefaultConfigMapName}
}

// Handle refuses a ConfigMap with errors and warns of everything else, and refuses to delete it. Any other object is admitted.
func (h *Handler) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation == admissionv1.Delete {
		return h.remove(ctx, request)
	}
	writes := request.Operation == admissionv1.Create || request.Operation == admissionv1.Update
	if !writes || request.SubResource != "" || request.Namespace != h.name().Namespace || request.Name != h.name().Name {
		return admission.Allowed("")
	}
	object, before := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	if err := h.Decoder.DecodeRaw(request.Object, object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if len(request.OldObject.Raw) > 0 {
		if err := h.Decoder.DecodeRaw(request.OldObject, before); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
	}
	verdict := Review(before.Data, object.Data, h.context(ctx))
	if verdict.Refusal != "" {
		return admission.Denied(verdict.Refusal).WithWarnings(verdict.Warnings...)
	}
	return admission.Allowed("").WithWarnings(verdict.Warnings...)
}

// context collects what the configuration is judged by. Nodes that cannot be listed are no reason to hold up a change.
func (h *Handler) context(ctx context.Context) Context {
	var in Context
	if h.Context != nil {
		in = h.Context(ctx)
	}
	if h.Reader == nil {
		return in
	}
	var nodes corev1.NodeList
	if err := h.Reader.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "Failed to list nodes; the configuration is validated without them")
		return in
	}
	for i := range nodes.Items {
		in.Nodes = append(in.Nodes, &nodes.Items[i])
	}
	return in
}
