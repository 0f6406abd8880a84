package webhooks

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/controllers/webhooks/access"
	"koordinator.sh/koord/decision/admission/podvalidation"
)

// TestPodsUseQuotasThatServeThem: by the right of who creates the pod, unless a controller does, or of its ServiceAccount.
func TestPodsUseQuotasThatServeThem(t *testing.T) {
	old, young := metav1.Unix(1, 0), metav1.Unix(2, 0)
	quota := func(namespace, name, lists string, created metav1.Time) *schedulingsigsv1alpha1.ElasticQuota {
		return &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: created,
			Annotations: map[string]string{extension.AnnotationQuotaNamespaces: lists}}}
	}
	reader := cluster(t, quota("others", "foreign", `["elsewhere"]`, old), quota("others", "listing", `["tenant"]`, old), quota("tenant", "own", "", old),
		quota("others", "squatted", "", old), quota("tenant", "squatted", "", young), quota("koordinator-system", extension.SystemQuotaName, "", old)).Build()
	pod := func(quota, account string, owner bool) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{extension.LabelQuotaName: quota}}, Spec: corev1.PodSpec{ServiceAccountName: account}}
		if owner {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "r", Controller: new(true)}}
		}
		return p
	}
	const trusted = "system:serviceaccount:tenant:trusted"
	for name, test := range map[string]struct {
		pod         *corev1.Pod
		creator     string
		wantRefused bool
		wantAsked   int
	}{
		"a quota of its namespace":                     {pod: pod("own", "", false)},
		"a quota that lists its namespace":             {pod: pod("listing", "", false)},
		"a quota of the system":                        {pod: pod(extension.SystemQuotaName, "", false)},
		"the quota of others":                          {pod: pod("foreign", "", false), creator: "eve", wantRefused: true, wantAsked: 2},
		"a younger quota of the name does not count":   {pod: pod("squatted", "", false), creator: "eve", wantRefused: true, wantAsked: 2},
		"the creator may use it":                       {pod: pod("foreign", "", false), creator: "admin", wantAsked: 1},
		"the creator may, and is a controller":         {pod: pod("foreign", "", true), creator: "admin", wantRefused: true, wantAsked: 1},
		"its ServiceAccount may use it":                {pod: pod("foreign", "trusted", true), creator: "eve", wantAsked: 1},
		"another ServiceAccount of the namespace does": {pod: pod("foreign", "other", false), creator: "eve", wantRefused: true, wantAsked: 2},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			reviews := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
				Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
					review, ok := object.(*authorizationv1.SubjectAccessReview)
					if !ok {
						return fmt.Errorf("%T is no review", object)
					}
					asked++
					review.Status.Allowed = review.Spec.User == "admin" || review.Spec.User == trusted
					return nil
				},
			})
			validator := &podValidator{reader: reader, decoder: admission.NewDecoder(newScheme(t)), options: podvalidation.Options{ProtectQuotas: true},
				access: access.NewReviewer(reviews, clocktesting.NewFakePassiveClock(time.Unix(0, 0)))}
			request := requestOf(t, admissionv1.Create, test.pod, nil)
			request.Namespace, request.UserInfo.Username = "tenant", test.creator
			response := validator.Handle(t.Context(), request)
			if response.Allowed == test.wantRefused || test.wantRefused && !strings.Contains(response.Result.Message, "KOORD1314") {
				t.Errorf("answer is %+v %+v", response, response.Result)
			}
			if asked != test.wantAsked {
				t.Errorf("%d questions, want %d", asked, test.wantAsked)
			}
		})
	}
}
