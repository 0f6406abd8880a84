package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/controllers/webhooks/access"
	"koordinator.sh/koord/decision/admission/podvalidation"
	"koordinator.sh/koord/decision/admission/quotaadmission"
)

// podValidator checks pods with co-location that are created or changed.
type podValidator struct {
	reader  client.Reader
	options podvalidation.Options
	decoder admission.Decoder
	// access checks the permission to use quotas; nil where that is not checked.
	access *access.Reviewer
}

// resizeSubresource changes the resources of a running pod's containers.
const resizeSubresource = "resize"

// Handle answers one request.
func (v *podValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	resize := request.SubResource == resizeSubresource
	if request.SubResource != "" && !resize || request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	in := podvalidation.Input{Pod: &corev1.Pod{}, Options: v.options, Resize: resize}
	if err := v.decoder.Decode(request, in.Pod); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode pod: %w", err))
	}
	if request.Operation == admissionv1.Update {
		in.Old = &corev1.Pod{}
		if err := v.decoder.DecodeRaw(request.OldObject, in.Old); err != nil {
			return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode the old pod: %w", err))
		}
	}
	in.Pod.Namespace = request.Namespace
	quota, err := readQuota(ctx, v.reader, in.Pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if in.Quota = quota; quota != nil && in.Old == nil {
		if quota.User, err = v.user(ctx, request, in.Pod, quota); err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
	}
	return answer(podvalidation.Validate(in))
}

// user is by whose right a pod may be in a quota that does not serve its namespace.
func (v *podValidator) user(ctx context.Context, request admission.Request, pod *corev1.Pod, quota *podvalidation.Quota) (podvalidation.User, error) {
	if v.access == nil || !v.options.ProtectQuotas || !quota.Exists || quota.Serves {
		return "", nil
	}
	use := quotaadmission.UseOf(quota.Namespace, quota.Name)
	if podvalidation.CreatorCounts(pod) {
		if allowed, err := v.access.Allowed(ctx, request.UserInfo, use); allowed || err != nil {
			return podvalidation.CreatorUses, err
		}
	}
	allowed, err := v.access.Allowed(ctx, access.ServiceAccount(pod.Namespace, podvalidation.ServiceAccount(pod)), use)
	if !allowed || err != nil {
		return "", err
	}
	return podvalidation.ServiceAccountUses, nil
}

// answer refuses with everything that is wrong, or allows with warnings.
func answer(findings []podvalidation.Finding) admission.Response {
	var refusals, warnings []string
	first := finding.Code("")
	for _, f := range findings {
		if !f.Refused {
			warnings = append(warnings, f.Text())
			continue
		}
		refusals = append(refusals, f.Text())
		if first == "" {
			first = f.Code
		}
	}
	if len(refusals) == 0 {
		return admission.Allowed("").WithWarnings(warnings...)
	}
	return refused(first, strings.Join(refusals, "; ")).WithWarnings(warnings...)
}
