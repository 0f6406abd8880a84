package webhooks

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/admission/podvalidation/labelpolicy"
)

// roles are what a chart allows: everything but what is done with some resources.
type roles struct {
	forbidden map[string]bool
	// watched kinds, in the order in which watching began.
	watched []string
	asked   int
}

func (r *roles) rights() *rights {
	return &rights{
		found: map[string]bool{},
		allowed: func(_ context.Context, attributes *authorizationv1.ResourceAttributes) (bool, error) {
			r.asked++
			return !r.forbidden[attributes.Verb+" "+attributes.Resource], nil
		},
		watch: func(object client.Object) error {
			switch object.(type) {
			case *admissionregistrationv1.MutatingAdmissionPolicy:
				r.watched = append(r.watched, "mutating policy")
			case *admissionregistrationv1.MutatingAdmissionPolicyBinding:
				r.watched = append(r.watched, "mutating binding")
			case *admissionregistrationv1.ValidatingAdmissionPolicy:
				r.watched = append(r.watched, "validating policy")
			case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
				r.watched = append(r.watched, "validating binding")
			}
			return nil
		},
	}
}

func (r *registration) hasProfilePolicy(t *testing.T) bool {
	t.Helper()
	err := r.client.Get(t.Context(), types.NamespacedName{Name: policy.Name}, &admissionregistrationv1.MutatingAdmissionPolicy{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func TestPoliciesThatTheRolesDoNotAllowAreDoneWithout(t *testing.T) {
	all := []string{"mutating policy", "mutating binding", "validating policy", "validating binding"}
	for name, test := range map[string]struct {
		forbidden                 string
		wantProfiles, wantLabels  bool
		wantWatched               []string
		wantWatchedOnceItMayAgain []string
	}{
		"everything is allowed":                          {"", true, true, all, all},
		"an older chart does not know validating ones":   {"list validatingadmissionpolicies", true, false, all[:2], all},
		"an older chart does not know their bindings":    {"watch validatingadmissionpolicybindings", true, false, all[:2], all},
		"the policy of the labels cannot be created":     {"create validatingadmissionpolicies", true, false, all[:2], all},
		"the policy of the profiles cannot be looked at": {"get mutatingadmissionpolicies", false, true, all[2:], []string{all[2], all[3], all[0], all[1]}},
	} {
		t.Run(name, func(t *testing.T) {
			r, chart := newRegistration(t, chartObjects()...), &roles{forbidden: map[string]bool{test.forbidden: true}}
			r.rights = chart.rights()
			r.run(t)
			if r.hasProfilePolicy(t) != test.wantProfiles || r.hasLabelPolicy(t) != test.wantLabels {
				t.Errorf("policy of the profiles %t, want %t; of the labels %t, want %t", r.hasProfilePolicy(t), test.wantProfiles, r.hasLabelPolicy(t), test.wantLabels)
			}
			if diff := cmp.Diff(test.wantWatched, chart.watched); diff != "" {
				t.Errorf("watched (-want +got):\n%s", diff)
			}
			r.clock.Step(registrationDelay)
			r.run(t)
			if got := asksAboutUpdates(r.podsWebhook(t)); got == test.wantLabels {
				t.Errorf("the webhook is asked about updates of pods: %t, with the policy of the labels: %t", got, test.wantLabels)
			}
			chart.forbidden = nil
			r.run(t)
			if !r.hasProfilePolicy(t) || !r.hasLabelPolicy(t) {
				t.Errorf("with an upgraded chart: policy of the profiles %t, of the labels %t", r.hasProfilePolicy(t), r.hasLabelPolicy(t))
			}
			if diff := cmp.Diff(test.wantWatchedOnceItMayAgain, chart.watched); diff != "" {
				t.Errorf("watched with an upgraded chart (-want +got):\n%s", diff)
			}
			asked := chart.asked
			r.run(t)
			if chart.asked != asked {
				t.Errorf("asked %d times more about what is known to be allowed", chart.asked-asked)
			}
		})
	}
}

func TestWithoutThePolicyOfTheProfilesTheWebhookAppliesThem(t *testing.T) {
	r := newRegistration(t, chartObjects()...)
	r.rights = (&roles{forbidden: map[string]bool{"get mutatingadmissionpolicies": true}}).rights()
	r.run(t)
	compiled, err := r.compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if compiled.Policy != nil {
		t.Error("profiles are compiled to a policy that cannot be written")
	}
	for _, verdict := range compiled.Verdicts {
		if verdict.Path == policy.ByPolicy || !strings.Contains(verdict.Reason, "roles") {
			t.Errorf("profile %q: %s because %q", verdict.Profile, verdict.Path, verdict.Reason)
		}
	}
}

func TestRightsThatCannotBeAskedForAreAskedForAgain(t *testing.T) {
	r, unreachable := newRegistration(t, chartObjects()...), errors.New("unreachable")
	r.rights = (&roles{}).rights()
	allowed := r.rights.allowed
	r.rights.allowed = func(context.Context, *authorizationv1.ResourceAttributes) (bool, error) { return false, unreachable }
	if _, err := r.Reconcile(t.Context(), reconcile.Request{}); !errors.Is(err, unreachable) {
		t.Errorf("error is %v", err)
	}
	r.rights.allowed = allowed
	r.run(t)
	if !r.hasLabelPolicy(t) {
		t.Error("no policy of the labels although it is allowed")
	}
}

func TestTheReviewerAsksTheAPIServer(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "selfsubjectaccessreviews"}, "", errors.New("no role"))
	for name, test := range map[string]struct {
		allowed     bool
		err         error
		wantAllowed bool
		wantErr     bool
	}{
		"allowed":                   {allowed: true, wantAllowed: true},
		"not allowed":               {},
		"asking is not allowed":     {err: forbidden},
		"the API server is overrun": {err: errors.New("overrun"), wantErr: true},
	} {
		t.Run(name, func(t *testing.T) {
			var got *authorizationv1.ResourceAttributes
			c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithInterceptorFuncs(interceptor.Funcs{
				Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
					review, ok := object.(*authorizationv1.SelfSubjectAccessReview)
					if !ok {
						return errors.New("not a review")
					}
					got, review.Status.Allowed = review.Spec.ResourceAttributes, test.allowed
					return test.err
				},
			}).Build()
			want := &authorizationv1.ResourceAttributes{Verb: "list", Resource: "validatingadmissionpolicies", Name: labelpolicy.Name}
			allowed, err := reviewer(c)(t.Context(), want)
			if allowed != test.wantAllowed || (err != nil) != test.wantErr {
				t.Errorf("allowed %t, error %v, want %t, an error: %t", allowed, err, test.wantAllowed, test.wantErr)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("asked about (-want +got):\n%s", diff)
			}
		})
	}
}
