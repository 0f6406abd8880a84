package gang

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func TestKeyOf(t *testing.T) {
	named := podOf("g", 0)
	plain := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{"app": "web"}}}
	native := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}, Spec: corev1.PodSpec{SchedulingGroup: &corev1.PodSchedulingGroup{PodGroupName: new("g")}}}
	both := native.DeepCopy()
	both.Annotations = map[string]string{extension.AnnotationGangName: "own"}
	deprecated := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{extension.DeprecatedLabelPodGroupName: "g"}}}
	tests := map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"the label of a PodGroup":               {named, "g"},
		"a pod without a gang":                  {plain, ""},
		"the deprecated label":                  {deprecated, "g"},
		"a native PodGroup":                     {native, "g"},
		"a key of its own before a native name": {both, "own"},
		"an annotation":                         {annotatedPod("g", 0, "3"), "g"},
	}
	for name, test := range tests {
		got, found := KeyOf(test.pod)
		if got.Name != test.want || found != (test.want != "") {
			t.Errorf("%s: %v, %v; want %q", name, got, found, test.want)
		}
	}
}

func TestRules(t *testing.T) {
	const only = extension.GangMatchPolicyOnlyWaiting
	timeout := groupOfPods("g", 3)
	timeout.Spec.ScheduleTimeoutSeconds = new(int32(30))
	running := groupOfPods("g", 3)
	running.Status.Phase = schedulingsigsv1alpha1.PodGroupRunning
	deprecated := podOf("g", 0)
	deprecated.Labels = map[string]string{extension.DeprecatedLabelPodGroupName: "g", extension.DeprecatedLabelPodGroupMinAvailable: "4"}
	native := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "g"}}
	native.Spec.SchedulingPolicy.Gang = &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 5}
	basic := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "g"}}
	tests := map[string]struct {
		spec    *Spec
		want    func(*Spec)
		wantErr bool
	}{
		"a PodGroup":                              {spec: FromGroup(groupOfPods("g", 3), defaults), want: func(*Spec) {}},
		"a PodGroup's own timeout":                {spec: FromGroup(timeout, defaults), want: func(s *Spec) { s.WaitTime = 30 * time.Second }},
		"a PodGroup that ran":                     {spec: FromGroup(running, defaults), want: func(s *Spec) { s.Ran = true }},
		"a PodGroup that waits by annotation":     {spec: FromGroup(groupOfPods("g", 3, extension.AnnotationGangWaitingTime, "5s"), defaults), want: func(s *Spec) { s.WaitTime = 5 * time.Second }},
		"a PodGroup without a minimum":            {spec: FromGroup(groupOfPods("g", 0), defaults), want: func(s *Spec) { s.MinMember, s.TotalMember = 0, 0 }, wantErr: true},
		"annotations of a pod":                    {spec: FromPod(annotatedPod("g", 0, "3"), defaults), want: func(s *Spec) { s.Source = FromPods }},
		"deprecated labels":                       {spec: FromPod(deprecated, defaults), want: func(s *Spec) { s.Source, s.MinMember, s.TotalMember = FromPods, 4, 4 }},
		"a total above the minimum":               {spec: FromPod(annotatedPod("g", 0, "3", extension.AnnotationGangTotalNumber, "9"), defaults), want: func(s *Spec) { s.Source, s.TotalMember = FromPods, 9 }},
		"a total below the minimum is the latter": {spec: FromPod(annotatedPod("g", 0, "3", extension.AnnotationGangTotalNumber, "2"), defaults), want: func(s *Spec) { s.Source = FromPods }},
		"a mode":                           {spec: FromPod(annotatedPod("g", 0, "3", extension.AnnotationGangMode, "NonStrict"), defaults), want: func(s *Spec) { s.Source, s.Mode = FromPods, extension.GangModeNonStrict }},
		"a policy":                         {spec: FromPod(annotatedPod("g", 0, "3", extension.AnnotationGangMatchPolicy, "only-waiting"), defaults), want: func(s *Spec) { s.Source, s.MatchPolicy = FromPods, only }},
		"a policy by its other name":       {spec: FromPod(annotatedPod("g", 0, "3", extension.AnnotationAliasGangMatchPolicy, "only-waiting"), defaults), want: func(s *Spec) { s.Source, s.MatchPolicy = FromPods, only }},
		"an unknown policy is the default": {spec: FromPod(annotatedPod("g", 0, "3", extension.AnnotationGangMatchPolicy, "sometimes"), defaults), want: func(s *Spec) { s.Source = FromPods }},
		"a group, with the gang itself": {
			spec: FromPod(annotatedPod("g", 0, "3", extension.AnnotationGangGroups, `["ns/z","ns/a","ns/z"]`), defaults),
			want: func(s *Spec) { s.Source, s.Group = FromPods, []Key{keyOf("a"), keyOf("g"), keyOf("z")} },
		},
		"a group that cannot be read": {
			spec: FromPod(annotatedPod("g", 0, "3", extension.AnnotationGangGroups, `["z"]`), defaults), want: func(s *Spec) { s.Source = FromPods }, wantErr: true,
		},
		"a minimum that cannot be read": {spec: FromPod(annotatedPod("g", 0, "some"), defaults), want: func(s *Spec) { s.Source, s.MinMember, s.TotalMember = FromPods, 0, 0 }, wantErr: true},
		"a native PodGroup":             {spec: FromNativeGroup(native, defaults), want: func(s *Spec) { s.Source, s.MinMember, s.TotalMember = FromNative, 5, 5 }},
		"a native PodGroup that is no gang": {
			spec: FromNativeGroup(basic, defaults), want: func(s *Spec) { s.Source, s.MinMember, s.TotalMember = FromNative, 1, 1 },
		},
	}
	for name, test := range tests {
		want := &Spec{
			Key: keyOf("g"), Source: FromPodGroup, MinMember: 3, TotalMember: 3, Mode: extension.GangModeStrict,
			MatchPolicy: extension.GangMatchPolicyOnceSatisfied, WaitTime: 10 * time.Minute, Group: []Key{keyOf("g")},
		}
		test.want(want)
		if diff := cmp.Diff(want, test.spec, cmpopts.IgnoreFields(Spec{}, "Err", "Created", "GroupID"), cmpopts.IgnoreUnexported(Spec{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if want := joined(test.spec.Group); test.spec.GroupID != want {
			t.Errorf("%s: group %s, want %s", name, test.spec.GroupID, want)
		}
		if (test.spec.Err != nil) != test.wantErr {
			t.Errorf("%s: error %v, want one %v", name, test.spec.Err, test.wantErr)
		}
	}
	if FromPod(podOf("g", 0), defaults) != nil {
		t.Error("a pod of a PodGroup brings rules of its own")
	}
}

func TestArguments(t *testing.T) {
	args, err := DecodeArgs(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(defaults, args.Defaults()); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		`{"defaultTimeout":"0s"}`:            "defaultTimeout",
		`{"controllerWorkers":0}`:            "controllerWorkers",
		`{"defaultMatchPolicy":"sometimes"}`: "defaultMatchPolicy",
		`{"enablePreemptions":true}`:         "enablePreemptions",
	} {
		if _, err := DecodeArgs(&runtime.Unknown{Raw: []byte(text)}); err == nil {
			t.Errorf("%s is accepted, want an error of %s", text, want)
		}
	}
}

func FuzzFromPod(f *testing.F) {
	f.Add("3", "4", "5s", `["ns/a"]`, `{"gatherStrategy":[{"layer":"rack","strategy":"MustGather"}]}`)
	f.Add("-1", "x", "-5s", `[""]`, `[]`)
	f.Fuzz(func(t *testing.T, minimum, total, wait, groups, topology string) {
		pod := annotatedPod("g", 0, minimum, extension.AnnotationGangTotalNumber, total, extension.AnnotationGangWaitingTime, wait,
			extension.AnnotationGangGroups, groups, extension.AnnotationGangNetworkTopologySpec, topology)
		spec := FromPod(pod, defaults)
		if spec.MinMember < 0 || spec.TotalMember < spec.MinMember || spec.WaitTime <= 0 || len(spec.Group) == 0 || len(spec.Group) > maxGroup+1 {
			t.Errorf("rules %+v", spec)
		}
		b := NewBook(defaults)
		b.Observe(pod)
		if verdict := b.Ready(keyOf("g")); spec.MinMember == 0 && verdict.Passed() {
			t.Error("a gang without a minimum is ready")
		}
	})
}
