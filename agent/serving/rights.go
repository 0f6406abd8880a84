package serving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/authentication/user"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// rights asks the cluster what a client may do. It may be used by several goroutines.
type rights struct {
	reviews authorizationclient.SubjectAccessReviewsGetter
	answers *cache.Expiring
}

func newRights(reviews authorizationclient.SubjectAccessReviewsGetter, ticks clock.WithTicker) *rights {
	return &rights{reviews: reviews, answers: cache.NewExpiringWithClock(ticks)}
}

// answer about a right.
type answer struct {
	allowed bool
	reason  string
}

// ask whether a client may use a verb at a path.
func (r *rights) ask(ctx context.Context, who user.Info, verb, path string) (answer, error) {
	extra := map[string]authorizationv1.ExtraValue{}
	for name, values := range who.GetExtra() {
		extra[name] = values
	}
	question := authorizationv1.SubjectAccessReviewSpec{
		User: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups(), Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: verb},
	}
	asked, err := json.Marshal(question)
	if err != nil {
		return answer{}, fmt.Errorf("review access of user %q: %w", who.GetName(), err)
	}
	key := string(asked) // all that the answer depends on, in a fixed order
	if known, found := r.answers.Get(key); found {
		return known.(answer), nil
	}
	review, err := r.reviews.SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: question}, metav1.CreateOptions{})
	if err != nil {
		return answer{}, fmt.Errorf("review access of user %q: %w", who.GetName(), err)
	}
	got := answer{allowed: review.Status.Allowed && !review.Status.Denied, reason: review.Status.Reason}
	r.answers.Set(key, got, rememberFor(got.allowed))
	return got, nil
}

// door lets those pass to what is behind it whom the cluster knows and allows.
type door struct {
	identities *identities
	rights     *rights
	behind     http.Handler
}

func (d *door) handler() http.Handler { return http.HandlerFunc(d.serve) }

func (d *door) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache, private")
	ctx, cancel := context.WithTimeout(r.Context(), askTimeout)
	defer cancel()
	who, err := d.identities.of(r.WithContext(ctx))
	switch {
	case errors.Is(err, errUnknown):
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return
	case err != nil:
		d.unanswered(w, r, err)
		return
	}
	verb := strings.ToLower(r.Method)
	got, err := d.rights.ask(ctx, who, verb, r.URL.Path)
	switch {
	case err != nil:
		d.unanswered(w, r, err)
	case !got.allowed:
		http.Error(w, strings.TrimSuffix(fmt.Sprintf("Forbidden: user %q may not %s %s: %s", who.GetName(), verb, r.URL.Path, got.reason), ": "), http.StatusForbidden)
	default:
		d.behind.ServeHTTP(w, r)
	}
}

// unanswered refuses because the cluster could not be asked.
func (d *door) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	klog.FromContext(r.Context()).V(1).Info("Rejected a request: authentication or authorization failed", "path", r.URL.Path, "error", err.Error())
	w.Header().Set("Retry-After", "5")
	http.Error(w, "authentication or authorization is not available: the API server did not respond", http.StatusServiceUnavailable)
}
