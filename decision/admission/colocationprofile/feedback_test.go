package colocationprofile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/test/profilecases"
)

func profilesOf(t *testing.T, text string) []configv1alpha1.ClusterColocationProfile {
	t.Helper()
	var profiles []configv1alpha1.ClusterColocationProfile
	if err := yaml.UnmarshalStrict([]byte(text), &profiles); err != nil {
		t.Fatal(err)
	}
	return profiles
}

func TestFeedbackIsFound(t *testing.T) {
	tests := map[string]struct {
		profiles string
		want     map[string]string
	}{
		"profiles about different keys": {profiles: `
- {metadata: {name: a}, spec: {selector: {matchLabels: {app: x}}, labels: {tier: batch}}}
- {metadata: {name: b}, spec: {labels: {tier: mid}, labelKeysMapping: {app: copy}}}
`},
		"a selector on what another profile writes": {
			profiles: `
- {metadata: {name: a}, spec: {labels: {tier: batch}}}
- {metadata: {name: b}, spec: {selector: {matchLabels: {tier: batch}}}}
`,
			want: map[string]string{
				"a": `profile "b" reads metadata.labels[tier], which profile "a" writes`,
				"b": `profile "b" reads metadata.labels[tier], which profile "a" writes`,
			},
		},
		"a selector on what the profile itself writes, and then no longer selects": {
			profiles: `[{metadata: {name: a}, spec: {selector: {matchLabels: {tier: raw}}, labels: {tier: done}}}]`,
			want:     map[string]string{"a": `profile "a" reads metadata.labels[tier], which profile "a" writes`},
		},
		"a suffix on a label that is also mapped": {
			profiles: `[{metadata: {name: a}, spec: {labelKeysMapping: {app: copy}, labelSuffixes: {app: -s}}}]`,
			want:     map[string]string{"a": `profile "a" reads metadata.labels[app], which profile "a" writes`},
		},
		"the QoS class is written after it was mapped": {
			profiles: `[{metadata: {name: a}, spec: {labelKeysMapping: {koordinator.sh/qosClass: copy}, qosClass: BE}}]`,
			want:     map[string]string{"a": `profile "a" reads metadata.labels[koordinator.sh/qosClass], which profile "a" writes`},
		},
		"a patch that sets resources": {
			profiles: `[{metadata: {name: a}, spec: {patch: {spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}}}}]`,
			want:     map[string]string{"a": "its patch sets resources, which are translated afterwards"},
		},
		"a patch that removes all labels": {
			profiles: `[{metadata: {name: a}, spec: {patch: {metadata: {labels: null}}}}]`,
			want:     map[string]string{"a": "its patch replaces the labels or annotations as a whole"},
		},
		"a patch that replaces all annotations": {
			profiles: `[{metadata: {name: a}, spec: {patch: {metadata: {annotations: {$patch: replace, x: "1"}}}}}]`,
			want:     map[string]string{"a": "its patch replaces the labels or annotations as a whole"},
		},
		"a profile that never applies": {profiles: `
- {metadata: {name: a}, spec: {probability: 0, labels: {tier: batch}}}
- {metadata: {name: b}, spec: {selector: {matchLabels: {tier: batch}}}}
`},
		"a patch of labels beside something else": {
			profiles: `
- {metadata: {name: a}, spec: {patch: {metadata: {labels: {x: "1"}}, spec: {nodeSelector: {y: z}}}}}
- {metadata: {name: b}, spec: {labelKeysMapping: {x: copy}}}
`,
			want: map[string]string{
				"a": `profile "b" reads metadata.labels[x], which profile "a" writes`,
				"b": `profile "b" reads metadata.labels[x], which profile "a" writes`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := test.want
			if want == nil {
				want = map[string]string{}
			}
			if diff := cmp.Diff(want, colocationprofile.Feedback(profilesOf(t, test.profiles), profilecases.PriorityClasses())); diff != "" {
				t.Errorf("feedback (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheTraceSaysWhy(t *testing.T) {
	profiles := profilesOf(t, `
- {metadata: {name: a-namespace}, spec: {namespaceSelector: {matchLabels: {team: shop}}, selector: {matchExpressions: [{key: app, operator: NotIn, values: [spark, flink]}]}}}
- {metadata: {name: b-label}, spec: {selector: {matchLabels: {app: x}}}}
- {metadata: {name: c-absent}, spec: {selector: {matchLabels: {none: x}}}}
- {metadata: {name: d-broken}, spec: {selector: {matchExpressions: [{key: a, operator: In}]}}}
- {metadata: {name: e-never}, spec: {probability: 0}}
- {metadata: {name: f-drawn}, spec: {probability: "30%"}}
- {metadata: {name: g-odd}, spec: {probability: "often"}}
- {metadata: {name: h-all}, spec: {labels: {app: spark, new: "1"}, labelKeysMapping: {gone: copy}, qosClass: BE, priorityClassName: koord-batch}}
`)
	test := profilecases.Case{Pod: `{metadata: {labels: {app: spark}}, spec: {overhead: {cpu: 10m}, containers: [{name: main, resources: {requests: {cpu: "1"}}}]}}`}
	pod, err := test.ReadPod(test.Pod)
	if err != nil {
		t.Fatal(err)
	}
	var trace colocationprofile.Trace
	_, err = colocationprofile.Decide(colocationprofile.Input{
		Pod: pod, Namespace: pod.Namespace, NamespaceLabels: profilecases.NamespaceLabels(), Profiles: profiles,
		PriorityClasses: profilecases.PriorityClasses(), Chance: func(string) int { return 30 },
	}, &trace)
	if err != nil {
		t.Fatal(err)
	}
	want := colocationprofile.Trace{
		Profiles: []colocationprofile.ProfileTrace{
			{Name: "a-namespace", Outcome: "NotSelected", Reason: `namespace label team is "analytics", but the selector requires team=shop`, Unmet: []colocationprofile.Unmet{
				{Term: "namespaceSelector", Requirement: "team=shop", Key: "team", Value: new("analytics")},
				{Term: "selector", Requirement: "app notin (flink,spark)", Key: "app", Value: new("spark")},
			}},
			{Name: "b-label", Outcome: "NotSelected", Reason: `pod label app is "spark", but the selector requires app=x`, Unmet: []colocationprofile.Unmet{
				{Term: "selector", Requirement: "app=x", Key: "app", Value: new("spark")},
			}},
			{Name: "c-absent", Outcome: "NotSelected", Reason: "pod has no label none, but the selector requires none=x", Unmet: []colocationprofile.Unmet{
				{Term: "selector", Requirement: "none=x", Key: "none"},
			}},
			{Name: "d-broken", Outcome: "Invalid", Reason: "read selector: values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
			{Name: "e-never", Outcome: "NotDrawn", Reason: "its probability is 0%", Unmet: []colocationprofile.Unmet{{Term: "probability", Requirement: "0%"}}},
			{Name: "f-drawn", Outcome: "NotDrawn", Reason: "its probability is 30%, and 30 was drawn", Unmet: []colocationprofile.Unmet{{Term: "probability", Requirement: "30%"}}},
			{Name: "g-odd", Outcome: "Invalid", Reason: `probability "often" is neither an integer nor a percentage`},
			{Name: "h-all", Outcome: "Applied", Changes: []colocationprofile.Change{
				{Field: "metadata.labels[app]", Outcome: "Unchanged", Before: "spark", After: "spark"},
				{Field: "metadata.labels[new]", Outcome: "Changed", After: "1"},
				{Field: "metadata.labels[copy]", Outcome: "Left", Reason: "there is no metadata.labels[gone] to copy"},
				{Field: "metadata.labels[koordinator.sh/qosClass]", Outcome: "Changed", After: "BE"},
				{Field: "spec.priorityClassName", Outcome: "Changed", After: "koord-batch"},
				{Field: "spec.priority", Outcome: "Changed", Before: "0", After: "5500"},
				{Field: "spec.preemptionPolicy", Outcome: "Unchanged", Before: "PreemptLowerPriority", After: "PreemptLowerPriority"},
			}},
		},
		Tier: "koord-batch", Resources: "translated to koord-batch",
		Amounts: []colocationprofile.Change{
			{Field: "spec.containers[main].resources.requests[kubernetes.io/batch-cpu]", Outcome: "Changed", After: "1k", Reason: "cpu 1"},
			{Field: "spec.overhead[cpu]", Outcome: "Left", Before: "10m", After: "10m", Reason: "Kubernetes takes overhead from the RuntimeClass and rejects other values"},
		},
	}
	if diff := cmp.Diff(want, trace); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
}

func TestTheTraceNamesTheProfileThatCannotBeApplied(t *testing.T) {
	var trace colocationprofile.Trace
	_, err := colocationprofile.Decide(colocationprofile.Input{
		Pod: &corev1.Pod{}, Profiles: profilesOf(t, "- {metadata: {name: a}, spec: {priorityClassName: gone}}\n- {metadata: {name: b}, spec: {probability: 0}}"),
	}, &trace)
	want := []colocationprofile.ProfileTrace{
		{Name: "a", Outcome: "Invalid", Reason: `colocation profile "a": priorityclass "gone" not found`},
		{Name: "b", Outcome: "NotDrawn", Reason: "its probability is 0%", Unmet: []colocationprofile.Unmet{{Term: "probability", Requirement: "0%"}}},
	}
	if diff := cmp.Diff(want, trace.Profiles); err == nil || diff != "" {
		t.Errorf("error %v, profiles (-want +got):\n%s", err, diff)
	}
}

func TestOverheadOfATemplateIsTranslated(t *testing.T) {
	test := profilecases.Case{Pod: `{spec: {overhead: {cpu: 10m, memory: 8Mi}}}`}
	pod, err := test.ReadPod(test.Pod)
	if err != nil {
		t.Fatal(err)
	}
	result, err := colocationprofile.Decide(colocationprofile.Input{
		Pod: pod, Profiles: profilecases.BatchProfile(), PriorityClasses: profilecases.PriorityClasses(),
		Options: colocationprofile.Options{TranslateOverhead: true, SkipResourceSpec: true},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := asJSON(t, result); !strings.Contains(got, `"kubernetes.io/batch-cpu": "10"`) || !strings.Contains(got, `"kubernetes.io/batch-memory": "8Mi"`) {
		t.Errorf("overhead is not translated:\n%s", got)
	}
}

func TestExemptNamespacesAndGatesAreRespected(t *testing.T) {
	test := profilecases.Case{Pod: `{spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}}`}
	for name, options := range map[string]colocationprofile.Options{
		"an exempt namespace":       {ExemptNamespaces: []string{profilecases.Namespace}},
		"no translation of any pod": {SkipResources: true},
	} {
		t.Run(name, func(t *testing.T) {
			pod, err := test.ReadPod(test.Pod)
			if err != nil {
				t.Fatal(err)
			}
			result, err := colocationprofile.Decide(colocationprofile.Input{
				Pod: pod, Namespace: pod.Namespace, Profiles: profilecases.BatchProfile(), PriorityClasses: profilecases.PriorityClasses(), Options: options,
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(pod.Spec.Containers, result.Spec.Containers); diff != "" {
				t.Errorf("containers changed:\n%s", diff)
			}
		})
	}
}

func TestPodsThatExistGetLabelsAndAnnotationsOnly(t *testing.T) {
	profiles := profilesOf(t, `
- {metadata: {name: a, labels: {config.koordinator.sh/controller-managed: "true"}}, spec: {labels: {x: "1", koordinator.sh/qosClass: BE}, annotations: {note: "2"}, labelKeysMapping: {app: copy, x: koordinator.sh/priority}, qosClass: BE, priorityClassName: absent, schedulerName: other, patch: {spec: {nodeSelector: {a: b}}}}}
- {metadata: {name: b}, spec: {labels: {unmanaged: "1"}}}
`)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "default", UID: "u", Labels: map[string]string{"app": "web"}}}
	var trace colocationprofile.Trace
	result, err := colocationprofile.Maintain(colocationprofile.Input{Pod: pod, Namespace: "default", Profiles: profiles}, &trace)
	if err != nil {
		t.Fatal(err)
	}
	want := pod.DeepCopy()
	want.Labels = map[string]string{"app": "web", "x": "1", "copy": "web"}
	want.Annotations = map[string]string{"note": "2"}
	if diff := cmp.Diff(want, result); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
	last := trace.Profiles[0].Changes[len(trace.Profiles[0].Changes)-1]
	if last.Outcome != colocationprofile.Left || last.Field != "metadata.labels[koordinator.sh/priority]" {
		t.Errorf("the last change is %+v", last)
	}
}

func TestAProbabilitySparesTheSamePodsEachTime(t *testing.T) {
	profiles := profilesOf(t, `[{metadata: {name: a, labels: {config.koordinator.sh/controller-managed: "true"}}, spec: {labels: {x: "1"}}}]`)
	profiles[0].Spec.Probability = new(intstr.FromInt32(30))
	hit := 0
	for i := range 2000 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(strings.Repeat("u", i%7+1) + string(rune('a'+i%26)) + strings.Repeat("0", i/26))}}
		first, err := colocationprofile.Maintain(colocationprofile.Input{Pod: pod, Profiles: profiles}, nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := colocationprofile.Maintain(colocationprofile.Input{Pod: pod, Profiles: profiles}, nil)
		if err != nil || first.Labels["x"] != second.Labels["x"] {
			t.Fatalf("the second answer for pod %d differs (%v)", i, err)
		}
		if first.Labels["x"] == "1" {
			hit++
		}
	}
	if hit < 450 || hit > 750 {
		t.Errorf("30%% of 2000 pods are %d", hit)
	}
}

func FuzzPercent(f *testing.F) {
	for _, seed := range []string{"50%", "0%", "100%", "-1%", "101%", "", "%", "50", "+5%", "9999999999999999999%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		percent, err := colocationprofile.Percent(new(intstr.FromString(text)))
		if err == nil && (percent < 0 || percent > 100 || !strings.HasSuffix(text, "%")) {
			t.Errorf("%q is %d%%", text, percent)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	test := profilecases.All()[8]
	profiles, err := test.ReadProfiles()
	if err != nil {
		b.Fatal(err)
	}
	pod, err := test.ReadPod(test.Pod)
	if err != nil {
		b.Fatal(err)
	}
	in := colocationprofile.Input{Pod: pod, Namespace: pod.Namespace, NamespaceLabels: profilecases.NamespaceLabels(), PriorityClasses: profilecases.PriorityClasses()}
	for i := range 50 {
		profile := *profiles[0].DeepCopy()
		profile.Name += string(rune('a' + i))
		in.Profiles = append(in.Profiles, profile)
	}
	for b.Loop() {
		if _, err := colocationprofile.Decide(in, nil); err != nil {
			b.Fatal(err)
		}
	}
}
