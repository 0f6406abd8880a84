package elasticquota

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Mutator completes ElasticQuotas that are created or changed. It is safe for concurrent use.
type Mutator struct {
	// Registry of the quotas and Decoder of the objects in requests; required.
	Registry *Registry
	Decoder  admission.Decoder
}

// Handle answers one request.
func (m *Mutator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.SubResource != "" || request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	quota, old, err := decode(m.Decoder, request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	labels, annotations, err := m.Registry.Default(ctx, quota, old)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if len(labels)+len(annotations) == 0 {
		return admission.Allowed("")
	}
	return patch(quota, labels, annotations)
}

// patch adds labels and annotations. Both sides are compared as this program knows quotas.
func patch(quota *schedulingsigsv1alpha1.ElasticQuota, labels, annotations map[string]string) admission.Response {
	completed := quota.DeepCopy()
	completed.Labels, completed.Annotations = merged(completed.Labels, labels), merged(completed.Annotations, annotations)
	before, err := json.Marshal(quota)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("encode quota: %w", err))
	}
	after, err := json.Marshal(completed)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("encode quota: %w", err))
	}
	return admission.PatchResponseFromRaw(before, after)
}

func merged(into, from map[string]string) map[string]string {
	if into == nil && len(from) > 0 {
		into = map[string]string{}
	}
	maps.Copy(into, from)
	return into
}

// decode reads the quota as it is to be and as it was; each is nil where the request has none.
func decode(decoder admission.Decoder, request admission.Request) (quota, old *schedulingsigsv1alpha1.ElasticQuota, err error) {
	read := func(raw runtime.RawExtension) (*schedulingsigsv1alpha1.ElasticQuota, error) {
		if len(raw.Raw) == 0 {
			return nil, nil
		}
		object := &schedulingsigsv1alpha1.ElasticQuota{}
		if err := decoder.DecodeRaw(raw, object); err != nil {
			return nil, fmt.Errorf("decode quota: %w", err)
		}
		object.Namespace = request.Namespace
		return object, nil
	}
	if quota, err = read(request.Object); err != nil {
		return nil, nil, err
	}
	if old, err = read(request.OldObject); err != nil {
		return nil, nil, err
	}
	if deleted := request.Operation == admissionv1.Delete; deleted && old == nil || !deleted && quota == nil {
		return nil, nil, fmt.Errorf("the %s request has no quota", request.Operation)
	}
	return quota, old, nil
}
