// Package access asks the API server what somebody else may do, for admission.
package access

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/decision/admission/quotaadmission"
)

const (
	// believed is how long an answer is believed: a grant, and its end, count that soon.
	believed = 10 * time.Second
	// mostAnswers bounds the answers that are kept.
	mostAnswers = 4096
)

// Reviewer asks by SubjectAccessReview, and believes an answer for a while. It is safe for concurrent use.
type Reviewer struct {
	client  client.Writer
	answers *cache.LRUExpireCache
}

// NewReviewer returns a reviewer that asks through a client.
func NewReviewer(c client.Writer, clock clock.PassiveClock) *Reviewer {
	return &Reviewer{client: c, answers: cache.NewLRUExpireCacheWithClock(mostAnswers, clock)}
}

// Allowed reports whether a user has a permission.
func (r *Reviewer) Allowed(ctx context.Context, who authenticationv1.UserInfo, right quotaadmission.Right) (bool, error) {
	spec := authorizationv1.SubjectAccessReviewSpec{
		User: who.Username, UID: who.UID, Groups: who.Groups,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: right.Verb, Group: right.Group, Resource: right.Resource, Namespace: right.Namespace, Name: right.Name,
		},
	}
	for key, values := range who.Extra {
		if spec.Extra == nil {
			spec.Extra = map[string]authorizationv1.ExtraValue{}
		}
		spec.Extra[key] = authorizationv1.ExtraValue(values)
	}
	encoded, err := json.Marshal(spec)
	if err != nil {
		return false, fmt.Errorf("encode the access review of %q for %s: %w", who.Username, right, err)
	}
	key := string(encoded)
	if answer, known := r.answers.Get(key); known {
		allowed, _ := answer.(bool) // nothing else is kept
		return allowed, nil
	}
	review := &authorizationv1.SubjectAccessReview{Spec: spec}
	if err := r.client.Create(ctx, review); err != nil {
		return false, fmt.Errorf("review the access of %q to %s: %w", who.Username, right, err)
	}
	r.answers.Add(key, review.Status.Allowed, believed)
	return review.Status.Allowed, nil
}

// ServiceAccount is a ServiceAccount as authentication knows it.
func ServiceAccount(namespace, name string) authenticationv1.UserInfo {
	return authenticationv1.UserInfo{
		Username: serviceaccount.MakeUsername(namespace, name), Groups: append(serviceaccount.MakeGroupNames(namespace), user.AllAuthenticated),
	}
}
