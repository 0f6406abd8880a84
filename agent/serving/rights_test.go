package serving

import (
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	testclock "k8s.io/utils/clock/testing"
)

// TestRightsAreRememberedOfWhomTheyAre asks a cluster that decides by all attributes of a user.
func TestRightsAreRememberedOfWhomTheyAre(t *testing.T) {
	asked := 0
	client := fake.NewClientset()
	client.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked++
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		spec := &review.Spec
		review.Status.Allowed = spec.Extra["scope"] != nil || spec.NonResourceAttributes.Path == "/metrics" && len(spec.Groups) == 2
		return true, review, nil
	})
	clock := testclock.NewFakeClock(now)
	r := newRights(client.AuthorizationV1(), clock)
	tests := []struct {
		name      string
		who       user.DefaultInfo
		path      string
		wait      time.Duration
		want      bool
		wantAsked int
	}{
		{"somebody in two groups", user.DefaultInfo{Name: "a", Groups: []string{"g", "h"}}, "/metrics", 0, true, 1},
		{"again", user.DefaultInfo{Name: "a", Groups: []string{"g", "h"}}, "/metrics", 0, true, 1},
		{"a path that goes on like a group", user.DefaultInfo{Name: "a", Groups: []string{"h"}}, "/metrics\x00g", 0, false, 2},
		{"without groups", user.DefaultInfo{Name: "a"}, "/metrics", 0, false, 3},
		{"with more to be known by", user.DefaultInfo{Name: "a", Extra: map[string][]string{"scope": {"all"}}}, "/metrics", 0, true, 4},
		{"after a grant has ended", user.DefaultInfo{Name: "a", Groups: []string{"g", "h"}}, "/metrics", grantBelieved + time.Second, true, 5},
	}
	for _, tc := range tests {
		clock.Step(tc.wait)
		got, err := r.ask(t.Context(), &tc.who, "get", tc.path)
		if err != nil || got.allowed != tc.want || asked != tc.wantAsked {
			t.Errorf("%s: allowed %t, %v, after %d questions to the cluster; want %t after %d", tc.name, got.allowed, err, asked, tc.want, tc.wantAsked)
		}
	}
}
