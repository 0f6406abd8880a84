package elasticquota

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/controllers/webhooks/access"
	"koordinator.sh/koord/decision/admission/quotaadmission"
)

// protected is a validator of quotas in a cluster of two nodes with 8 cpu each, where users hold the rights that are named after them.
func protected(t *testing.T, held map[string]string, asked *[]string, quotas ...*schedulingsigsv1alpha1.ElasticQuota) *Validator {
	t.Helper()
	v := validator(t, registryOf(quotas...))
	cluster := fake.NewClientBuilder().WithScheme(scheme(t))
	for _, name := range []string{"a", "b"} {
		cluster.WithObjects(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("8")}}})
	}
	v.Nodes, v.Options = cluster.Build(), quotaadmission.Options{Protect: true}
	v.Access = access.NewReviewer(interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			review, ok := object.(*authorizationv1.SubjectAccessReview)
			if !ok {
				return fmt.Errorf("%T is no review", object)
			}
			at := review.Spec.ResourceAttributes
			right := quotaadmission.Right{Verb: at.Verb, Group: at.Group, Resource: at.Resource, Namespace: at.Namespace, Name: at.Name}.String()
			*asked = append(*asked, right)
			review.Status.Allowed = held[review.Spec.User] == right
			return nil
		},
	}), clock.RealClock{})
	return v
}

func TestWhoeverWritesAQuotaIsAskedFor(t *testing.T) {
	theirs := object("theirs", "6", "20", extension.LabelQuotaIsParent, "true")
	theirs.Namespace = "others"
	listing := func(namespace string) *schedulingsigsv1alpha1.ElasticQuota {
		q := object("mine", "1", "2")
		q.Annotations = map[string]string{extension.AnnotationQuotaNamespaces: `["` + namespace + `"]`}
		return q
	}
	const use, update = "use elasticquotas.scheduling.sigs.k8s.io/theirs in namespace others", "update elasticquotas.scheduling.sigs.k8s.io in namespace victim"
	below := object("mine", "1", "20", extension.LabelQuotaParent, "theirs")
	for name, test := range map[string]struct {
		quota     *schedulingsigsv1alpha1.ElasticQuota
		right     string
		want      string
		wantAsked []string
	}{
		"what remains":                             {quota: object("mine", "10", "20")},
		"more than remains":                        {quota: object("mine", "11", "20"), want: "17 of cpu, of 16, of which 10 remain"},
		"its own namespace":                        {quota: listing("quotas")},
		"another namespace":                        {quota: listing("victim"), want: "KOORD1333", wantAsked: []string{update}},
		"another namespace, with the right to it":  {quota: listing("victim"), right: update, wantAsked: []string{update}},
		"the parent of others":                     {quota: below, want: "requires permission to " + use, wantAsked: []string{use}},
		"the parent of others, which it may use":   {quota: below, right: use, wantAsked: []string{use}},
		"the parent of others, with another right": {quota: below, right: update, want: "KOORD1333", wantAsked: []string{use}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			in := request(t, admissionv1.Create, test.quota, nil)
			in.UserInfo.Username = "eve"
			response := protected(t, map[string]string{"eve": test.right}, &asked, theirs).Handle(t.Context(), in)
			if response.Allowed != (test.want == "") || !response.Allowed && !strings.Contains(response.Result.Message, test.want) {
				t.Errorf("answer is %+v, want %q", response.Result, test.want)
			}
			if fmt.Sprint(asked) != fmt.Sprint(test.wantAsked) {
				t.Errorf("asked are %v, want %v", asked, test.wantAsked)
			}
		})
	}
}
