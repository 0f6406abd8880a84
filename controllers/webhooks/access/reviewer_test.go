package access

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"koordinator.sh/koord/decision/admission/quotaadmission"
)

// authorizer answers reviews by a function, and counts them.
func authorizer(asked *int, allowed func(*authorizationv1.SubjectAccessReviewSpec) (bool, error)) client.Client {
	return interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			review, ok := object.(*authorizationv1.SubjectAccessReview)
			if !ok {
				return fmt.Errorf("%T is no review", object)
			}
			*asked++
			var err error
			review.Status.Allowed, err = allowed(&review.Spec)
			return err
		},
	})
}

func TestAnswersAreBelievedForAWhile(t *testing.T) {
	asked, grant, clock := 0, false, clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	reviewer := NewReviewer(authorizer(&asked, func(*authorizationv1.SubjectAccessReviewSpec) (bool, error) { return grant, nil }), clock)
	use, eve := quotaadmission.UseOf("others", "team"), ServiceAccount("tenant", "eve")
	steps := []struct {
		name      string
		do        func()
		user      authenticationv1.UserInfo
		right     quotaadmission.Right
		want      bool
		wantAsked int
	}{
		{name: "the first question", do: func() {}, user: eve, right: use, wantAsked: 1},
		{name: "a grant is not seen at once", do: func() { grant = true }, user: eve, right: use, wantAsked: 1},
		{name: "it is when the answer is old", do: func() { clock.SetTime(clock.Now().Add(believed + time.Second)) }, user: eve, right: use, want: true, wantAsked: 2},
		{name: "another quota is another question", do: func() {}, user: eve, right: quotaadmission.UseOf("others", "dept"), want: true, wantAsked: 3},
		{name: "so is another user", do: func() { grant = false }, user: ServiceAccount("tenant", "mallory"), right: use, wantAsked: 4},
		{name: "and one with other groups", do: func() {}, user: authenticationv1.UserInfo{Username: eve.Username, Groups: []string{"x"}}, right: use, wantAsked: 5},
		{name: "the end of a grant counts as soon", do: func() { clock.SetTime(clock.Now().Add(believed + time.Second)) }, user: eve, right: use, wantAsked: 6},
	}
	for _, step := range steps {
		step.do()
		got, err := reviewer.Allowed(t.Context(), step.user, step.right)
		if err != nil || got != step.want || asked != step.wantAsked {
			t.Errorf("%s: %v, %v after %d questions, want %v after %d", step.name, got, err, asked, step.want, step.wantAsked)
		}
	}
}

func TestWhoIsAskedAbout(t *testing.T) {
	asked := 0
	reviewer := NewReviewer(authorizer(&asked, func(spec *authorizationv1.SubjectAccessReviewSpec) (bool, error) {
		at := spec.ResourceAttributes
		return spec.User == "system:serviceaccount:ns:sa" && len(spec.Groups) == 3 && at.Verb == "use" && at.Group == "scheduling.sigs.k8s.io" &&
			at.Resource == "elasticquotas" && at.Namespace == "others" && at.Name == "team", nil
	}), clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	if allowed, err := reviewer.Allowed(t.Context(), ServiceAccount("ns", "sa"), quotaadmission.UseOf("others", "team")); !allowed || err != nil {
		t.Errorf("the question is another: %v", err)
	}
}

func TestNoAnswerIsNoRight(t *testing.T) {
	asked := 0
	reviewer := NewReviewer(authorizer(&asked, func(*authorizationv1.SubjectAccessReviewSpec) (bool, error) { return true, errors.New("unavailable") }), clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	for range 2 {
		if allowed, err := reviewer.Allowed(t.Context(), ServiceAccount("ns", "sa"), quotaadmission.UseOf("others", "team")); allowed || err == nil {
			t.Errorf("%v, %v without an answer", allowed, err)
		}
	}
	if asked != 2 {
		t.Errorf("a failure was believed: %d questions", asked)
	}
}

func TestAnswersAreBoundedInNumber(t *testing.T) {
	asked := 0
	reviewer := NewReviewer(authorizer(&asked, func(*authorizationv1.SubjectAccessReviewSpec) (bool, error) { return true, nil }), clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	for i := range mostAnswers + 100 {
		if _, err := reviewer.Allowed(t.Context(), ServiceAccount("ns", fmt.Sprint(i)), quotaadmission.UseOf("others", "team")); err != nil {
			t.Fatal(err)
		}
	}
	if kept := len(reviewer.answers.Keys()); kept > mostAnswers {
		t.Errorf("%d answers are kept", kept)
	}
}
