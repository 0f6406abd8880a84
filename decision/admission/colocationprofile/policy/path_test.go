package policy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/test/profilecases"
)

func TestThePathOfAPodIsTheOneThatItsPolicyTakes(t *testing.T) {
	for _, test := range profilecases.All() {
		t.Run(test.Name, func(t *testing.T) {
			profiles, err := test.ReadProfiles()
			if err != nil {
				t.Fatal(err)
			}
			pod, err := test.ReadPod(test.Pod)
			if err != nil {
				t.Fatal(err)
			}
			path, reason := Compile(profiles, profilecases.PriorityClasses(), Options{}).PathOf(pod, profilecases.NamespaceLabels())
			if (path == ByWebhook) != test.WantWebhook {
				t.Errorf("path %s (%s), want the webhook: %v", path, reason, test.WantWebhook)
			}
		})
	}
}

func TestThePathOfAPodSaysWhy(t *testing.T) {
	profile := func(name, app string, edit func(*configv1alpha1.ClusterColocationProfile)) configv1alpha1.ClusterColocationProfile {
		out := configv1alpha1.ClusterColocationProfile{ObjectMeta: metav1.ObjectMeta{Name: name}}
		out.Spec.Selector, out.Spec.Labels = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}, map[string]string{"x": "1"}
		edit(&out)
		return out
	}
	profiles := []configv1alpha1.ClusterColocationProfile{
		profile("plain", "web", func(*configv1alpha1.ClusterColocationProfile) {}),
		profile("elsewhere", "web", func(p *configv1alpha1.ClusterColocationProfile) {
			p.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "ml"}}
			p.Spec.Patch.Raw = []byte(`{"spec": {"hostNetwork": true}}`)
		}),
		profile("patched", "job", func(p *configv1alpha1.ClusterColocationProfile) {
			p.Spec.Patch.Raw = []byte(`{"spec": {"hostNetwork": true}}`)
		}),
	}
	labelled := func(app string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}}}
	}
	whole := labelled("web")
	whole.Spec.Resources = &corev1.ResourceRequirements{}
	tests := map[string]struct {
		pod        *corev1.Pod
		options    Options
		want       Path
		wantReason string
	}{
		"a profile in CEL":                {pod: labelled("web"), want: ByPolicy},
		"a patch that CEL cannot express": {pod: labelled("job"), want: ByWebhook, wantReason: `profile "patched": its patch changes more than labels and annotations`},
		"no profile":                      {pod: labelled("db"), want: ByNone, wantReason: "no profile selects the pod"},
		"resources of the whole pod":      {pod: whole, want: ByWebhook, wantReason: "the pod has resources for the pod as a whole"},
		"a cluster without policies":      {pod: labelled("web"), options: Options{Unserved: "too old"}, want: ByWebhook, wantReason: `profile "plain": too old`},
		"nothing is written to the pod":   {pod: labelled("db"), options: Options{Options: colocationprofile.Options{SkipResourceSpec: true}}, want: ByNone, wantReason: "no profile selects the pod"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path, reason := Compile(profiles, nil, tc.options).PathOf(tc.pod, nil)
			if path != tc.want || reason != tc.wantReason {
				t.Errorf("path %s because %q, want %s because %q", path, reason, tc.want, tc.wantReason)
			}
		})
	}
}
