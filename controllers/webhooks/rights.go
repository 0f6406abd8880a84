package webhooks

import (
	"context"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/admission/podvalidation/labelpolicy"
)

// managedPolicy is a policy with its binding that the API server decides by. The roles of an older chart may not know it: it
// is watched and used once they do. A watch that is forbidden would never be in sync, and the manager with it.
type managedPolicy struct {
	// name of the policy and of its binding.
	name string
	// resources are those of the policy and of its binding.
	resources [2]string
	// objects are the kinds to watch.
	objects []client.Object
}

func managedPolicies() []managedPolicy {
	return []managedPolicy{{
		policy.Name, [2]string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"},
		[]client.Object{&admissionregistrationv1.MutatingAdmissionPolicy{}, &admissionregistrationv1.MutatingAdmissionPolicyBinding{}},
	}, {
		labelpolicy.Name, [2]string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"},
		[]client.Object{&admissionregistrationv1.ValidatingAdmissionPolicy{}, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}},
	}}
}

// rights are what the manager's roles allow, as far as is known. They are used by one goroutine.
type rights struct {
	// allowed answers whether the manager may do something.
	allowed func(context.Context, *authorizationv1.ResourceAttributes) (bool, error)
	// watch begins to watch a kind.
	watch func(client.Object) error
	// found are the answers by the name of the policy. A policy that is allowed is watched and not asked about again.
	found map[string]bool
}

// uses reports whether the policy of a name is used: it is served and, where rights are asked, allowed.
func (r *registrar) uses(name string) bool {
	return r.served && (r.rights == nil || r.rights.found[name])
}

// whyNoProfiles says why the policy of the profiles is not used; empty when it is.
func (r *registrar) whyNoProfiles() string {
	if r.unserved == "" && !r.uses(policy.Name) {
		return "koord-manager has no permission to write " + managedPolicies()[0].resources[0]
	}
	return r.unserved
}

// ask asks for the rights that are missing, and begins to watch what has become allowed.
func (r *rights) ask(ctx context.Context) error {
	for _, managed := range managedPolicies() {
		before, known := r.found[managed.name]
		if before {
			continue
		}
		missing, err := r.missing(ctx, managed)
		if err != nil {
			return err
		}
		if missing == "" {
			for _, object := range managed.objects {
				if err := r.watch(object); err != nil {
					return fmt.Errorf("watch %T: %w", object, err)
				}
			}
		} else if !known {
			klog.FromContext(ctx).Info("A policy is not managed: koord-manager has no permission; upgrade the chart", "policy", managed.name, "missing", missing)
		}
		r.found[managed.name] = missing == ""
		publishRight(managed.name, missing == "")
	}
	return nil
}

// missing is the first thing that the manager may not do with a policy or its binding; empty when it may do everything.
func (r *rights) missing(ctx context.Context, managed managedPolicy) (string, error) {
	for _, resource := range managed.resources {
		for _, verb := range []string{"get", "list", "watch", "patch", "delete", "create"} {
			attributes := &authorizationv1.ResourceAttributes{
				Group: admissionregistrationv1.GroupName, Resource: resource, Verb: verb, Name: managed.name,
			}
			if verb == "create" {
				attributes.Name = "" // the name of what does not exist yet is not known to authorization
			}
			allowed, err := r.allowed(ctx, attributes)
			if err != nil {
				return "", fmt.Errorf("check whether koord-manager may %s %s: %w", verb, resource, err)
			}
			if !allowed {
				return verb + " " + resource, nil
			}
		}
	}
	return "", nil
}

// reviewer asks the API server about the manager's own rights. One that may not even ask has none.
func reviewer(c client.Client) func(context.Context, *authorizationv1.ResourceAttributes) (bool, error) {
	return func(ctx context.Context, attributes *authorizationv1.ResourceAttributes) (bool, error) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}}
		err := c.Create(ctx, review)
		if apierrors.IsForbidden(err) {
			return false, nil
		}
		return err == nil && review.Status.Allowed, err
	}
}
