package elasticquota

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/controllers/webhooks/access"
	"koordinator.sh/koord/decision/admission/quotaadmission"
)

// maxWarningBytes bounds one warning; the API server drops longer ones.
const maxWarningBytes = 250

// Validator refuses writes of ElasticQuotas that break the tree. It is safe for concurrent use.
type Validator struct {
	// Registry of the quotas and Decoder of the objects in requests; required.
	Registry *Registry
	Decoder  admission.Decoder
	// Pods of the quotas.
	Pods Pods
	// Access answers what those who write quotas may do, and Nodes are what there is; nil where quotas are not protected.
	Access *access.Reviewer
	Nodes  client.Reader
	// Options apply to all quotas.
	Options quotaadmission.Options
}

// Handle answers one request.
func (v *Validator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.SubResource != "" || request.Operation == admissionv1.Connect {
		return admission.Allowed("")
	}
	object, was, err := decode(v.Decoder, request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	in := quotaadmission.Input{Options: v.Options}
	if object != nil && request.Operation != admissionv1.Delete {
		quota, undecoded := quotaadmission.Read(object)
		in.Quota, in.Undecoded = &quota, undecoded
	}
	if was != nil {
		old, _ := quotaadmission.Read(was) // what could not be decoded counted as absent
		in.Old = &old
	}
	if quotaadmission.NeedsPods(in.Quota, in.Old) {
		if in.Pod, err = v.Pods.Of(ctx, in.Old); err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
	}
	if in.Total, err = v.total(ctx, in); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	verdict, err := v.admit(ctx, request, in)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	klog.FromContext(ctx).V(4).Info("Validated a quota", "operation", request.Operation, "namespace", request.Namespace, "quota", request.Name, "verdict", verdict)
	return answer(verdict.Findings)
}

// answer refuses with everything that is wrong, or allows with warnings.
func answer(findings []quotaadmission.Finding) admission.Response {
	var refusals, warnings []string
	fix := ""
	for _, f := range findings {
		if !f.Refused {
			warnings = append(warnings, cut(f.Text()))
			continue
		}
		refusals = append(refusals, f.Text())
		fix = cmp.Or(fix, f.Code.Remedy())
	}
	if len(refusals) == 0 {
		return admission.Allowed("").WithWarnings(warnings...)
	}
	return admission.Denied(strings.Join(refusals, "; ") + fix).WithWarnings(warnings...)
}

func cut(text string) string {
	if len(text) <= maxWarningBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxWarningBytes-3], "") + "..."
}
