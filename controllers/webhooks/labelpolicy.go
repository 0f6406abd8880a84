package webhooks

import (
	"context"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/decision/admission/podvalidation/labelpolicy"
)

// labelPolicy is the policy by which the API server decides the label rules of pods; nil objects where it is not used.
type labelPolicy struct {
	policy  *admissionregistrationv1.ValidatingAdmissionPolicy
	binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding
	// served is false where there is no policy to look at, or none that the manager may. A cluster that serves
	// MutatingAdmissionPolicy serves this too.
	served bool
}

func (r *registrar) labelPolicy() labelPolicy {
	out := labelPolicy{served: r.uses(labelpolicy.Name)}
	if out.served && r.unserved == "" {
		out.policy, out.binding = labelpolicy.Compile(r.options.Validation, r.options.profileOptions().ExemptNamespaces)
	}
	return out
}

// inSync reports whether policy and binding are as they should be.
func (l labelPolicy) inSync(ctx context.Context, reader client.Reader, owner client.Object) (bool, error) {
	if !l.served {
		return true, nil
	}
	var live admissionregistrationv1.ValidatingAdmissionPolicy
	var binding admissionregistrationv1.ValidatingAdmissionPolicyBinding
	key := types.NamespacedName{Name: labelpolicy.Name}
	if err := errors.Join(client.IgnoreNotFound(reader.Get(ctx, key, &live)), client.IgnoreNotFound(reader.Get(ctx, key, &binding))); err != nil {
		return false, fmt.Errorf("get the pod label policy: %w", err)
	}
	if l.policy == nil {
		return live.Name == "" && binding.Name == "", nil
	}
	return equality.Semantic.DeepEqual(live.Spec, l.policy.Spec) && equality.Semantic.DeepEqual(binding.Spec, l.binding.Spec) &&
		owns(owner, &live) && owns(owner, &binding), nil
}

// write writes policy and binding, or deletes those that another manager left. They belong to the webhook configuration, so
// that they go with the chart.
func (l labelPolicy) write(ctx context.Context, r *registrar, owner *admissionregistrationv1.MutatingWebhookConfiguration) error {
	if !l.served {
		return nil
	}
	if l.policy == nil {
		meta := metav1.ObjectMeta{Name: labelpolicy.Name}
		return errors.Join(
			client.IgnoreNotFound(r.client.Delete(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta})),
			client.IgnoreNotFound(r.client.Delete(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: meta})),
		)
	}
	if err := r.applyOwned(ctx, owner, l.policy, l.binding); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Applied the pod label policy", "policy", labelpolicy.Name)
	return nil
}
