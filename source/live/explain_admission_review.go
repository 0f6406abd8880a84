package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/admission/podvalidation"
	"koordinator.sh/koord/decision/admission/quotaadmission"
	"koordinator.sh/koord/source/objects"
)

// user is by whose permission a pod may be in its quota; undecided says why that is not known. The caller counts as the creator.
func (r *admissionRead) user(ctx context.Context, admission *objects.Admission) (user podvalidation.User, undecided string, err error) {
	use, needed := admission.Use()
	if !needed {
		return "", "", nil
	}
	pod := admission.Before()
	attributes := &authorizationv1.ResourceAttributes{Verb: use.Verb, Group: use.Group, Resource: use.Resource, Namespace: use.Namespace, Name: use.Name}
	if podvalidation.CreatorCounts(pod) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}}
		undecided, err = r.review(ctx, "selfsubjectaccessreviews", use, review)
		if err != nil || review.Status.Allowed {
			return podvalidation.CreatorUses, "", err
		}
	}
	account := podvalidation.ServiceAccount(pod)
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               "system:serviceaccount:" + pod.Namespace + ":" + account,
		Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + pod.Namespace, "system:authenticated"},
		ResourceAttributes: attributes,
	}}
	text, err := r.review(ctx, "subjectaccessreviews", use, review)
	switch {
	case err != nil:
		return "", "", err
	case review.Status.Allowed:
		return podvalidation.ServiceAccountUses, "", nil
	case text != "":
		undecided = text
	}
	return "", undecided, nil
}

// review asks the API server what somebody may do, which it stores nowhere. It returns why that is not known.
func (r *admissionRead) review(ctx context.Context, resource string, use quotaadmission.Right, into runtime.Object) (string, error) {
	ask := request{verb: "create", group: authorizationv1.GroupName, resource: resource}
	err := r.c.core.Post().AbsPath("/apis", ask.group, "v1", resource).MaxRetries(retries).Body(into).Do(ctx).Into(into)
	unread, err := r.missing(failure(ctx, ask, err), fmt.Sprintf("whether the creator of the pod or its ServiceAccount may %s is unknown", use))
	if unread {
		return fmt.Sprintf("whether the pod may use quota %s is unknown", use.Name), nil
	}
	return "", err
}

// tryPod asks the API server to create a pod as a dry run, and returns what it would store.
func (c *clients) tryPod(ctx context.Context, given *corev1.Pod) (diagnosticsv1alpha1.DryRunVerdict, string, *corev1.Pod, error) {
	pod := given.DeepCopy()
	pod.APIVersion, pod.Kind = "v1", "Pod"
	pod.Name, pod.GenerateName, pod.OwnerReferences = "", trialName, nil
	pod.UID, pod.ResourceVersion, pod.ManagedFields = "", "", nil // a manifest may be that of a pod that exists
	body, err := json.Marshal(pod)
	if err != nil {
		return "", "", nil, fmt.Errorf("encode pod: %w", err)
	}
	t := trial{request: request{verb: "create", resource: "pods", namespace: pod.Namespace}, method: http.MethodPost, contentType: "application/json", body: body}
	t.path = pathOf(t.request, "v1")
	created := &corev1.Pod{}
	err = c.send(ctx, t).Into(created)
	if errors.Is(err, context.Canceled) {
		return "", "", nil, err
	}
	verdict, message := t.verdict(ctx, err)
	switch {
	case verdict == diagnosticsv1alpha1.DryRunAccepted:
		return verdict, "", created, nil
	case apierrors.IsNotFound(err) || apierrors.IsBadRequest(err):
		return diagnosticsv1alpha1.DryRunRefused, err.Error(), nil, nil
	}
	return verdict, message, nil, nil
}
