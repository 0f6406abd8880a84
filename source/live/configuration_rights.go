package live

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"

	"koordinator.sh/koord/source"
)

var _ source.ConfigurationAuthorizer = (*Source)(nil)

// MayWriteConfiguration asks the API server, as kubectl auth can-i does, which it stores nowhere.
func (s *Source) MayWriteConfiguration(ctx context.Context, namespace string) (whyNot string, err error) {
	c, err := s.connect()
	if err != nil {
		return "", err
	}
	write := request{verb: "patch", resource: "configmaps", namespace: s.systemNamespace(namespace), name: strategyConfig}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Verb: write.verb, Resource: write.resource, Namespace: write.namespace, Name: write.name,
	}}}
	ask := request{verb: "create", group: authorizationv1.GroupName, resource: "selfsubjectaccessreviews"}
	err = c.core.Post().AbsPath("/apis", ask.group, "v1", ask.resource).MaxRetries(retries).Body(review).Do(ctx).Into(review)
	if err = failure(ctx, ask, err); err != nil {
		return "", err
	}
	if !review.Status.Allowed {
		return write.String() + ": not permitted", nil
	}
	return "", nil
}
