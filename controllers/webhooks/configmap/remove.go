package configmap

import (
	"context"
	"fmt"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/finding"
)

// remove refuses to delete the ConfigMap, which says of no setting what it should be, unless the system itself goes. Where that cannot be
// found out the deletion is admitted: the manager keeps the last valid configuration in force anyway.
func (h *Handler) remove(ctx context.Context, request admission.Request) admission.Response {
	object := &corev1.ConfigMap{}
	if err := h.Decoder.DecodeRaw(request.OldObject, object); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode the old configmap: %w", err))
	}
	// A request that deletes all ConfigMaps of a namespace names none.
	if h.Leaving == nil || client.ObjectKeyFromObject(object) != h.name() {
		return admission.Allowed("")
	}
	leaving, err := h.Leaving(ctx)
	if err != nil {
		log.FromContext(ctx).Error(err, "Failed to check whether Koordinator is being uninstalled; allowed the deletion of the configuration")
		return admission.Allowed("")
	}
	if leaving {
		return admission.Allowed("")
	}
	const code = finding.ConfigProtected
	return admission.Denied(fmt.Sprintf("configmap %s cannot be deleted while nodes use it (%s)%s", h.name(), code, code.Remedy()))
}

// Leaving is a Handler's Leaving: true while the namespace is deleted, and once the chart's webhook configuration is, which an uninstall
// deletes before ConfigMaps.
func Leaving(live client.Reader, namespace, webhooks string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		var registration admissionregistrationv1.ValidatingWebhookConfiguration
		err := live.Get(ctx, types.NamespacedName{Name: webhooks}, &registration)
		if apierrors.IsNotFound(err) || err == nil && registration.DeletionTimestamp != nil {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("get validatingwebhookconfiguration %q: %w", webhooks, err)
		}
		var within corev1.Namespace
		if err := live.Get(ctx, types.NamespacedName{Name: namespace}, &within); err != nil {
			return false, fmt.Errorf("get namespace %q: %w", namespace, err)
		}
		return within.DeletionTimestamp != nil, nil
	}
}
