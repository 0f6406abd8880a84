package quotaprofile

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
)

func profileOf(pool, ratio string) *quotav1alpha1.ElasticQuotaProfile {
	p := &quotav1alpha1.ElasticQuotaProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "profile"},
		Spec: quotav1alpha1.ElasticQuotaProfileSpec{
			QuotaName: "root", QuotaLabels: map[string]string{"team": "x", extension.LabelQuotaIsRoot: "false"},
			NodeSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"pool": pool}},
		},
	}
	if ratio != "" {
		p.Spec.ResourceRatio = &ratio
	}
	return p
}

func nodeOf(pool, cpu, memory string, ready bool) *corev1.Node {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pool": pool}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}},
		},
	}
}

func TestAProfileIsAsLargeAsItsNodes(t *testing.T) {
	cordoned := nodeOf("a", "1", "1Gi", true)
	cordoned.Spec.Unschedulable = true
	nodes := []*corev1.Node{nodeOf("a", "10", "10Gi", true), nodeOf("a", "5", "5Gi", false), cordoned, nodeOf("b", "100", "100Gi", true)}
	got, err := Decide(profileOf("a", "0.9"), nodes)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		extension.AnnotationQuotaTotalResource:         `{"cpu":"14400m","memory":"15461882265"}`,
		extension.AnnotationQuotaUnschedulableResource: `{"cpu":"5400m","memory":"5798205849"}`,
	}
	if diff := cmp.Diff(want, got.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	labels := map[string]string{
		"team": "x", extension.LabelQuotaIsRoot: "true", extension.LabelQuotaIsParent: "true", extension.LabelQuotaProfile: "profile",
		extension.LabelQuotaTreeID: got.TreeID, extension.LabelQuotaParent: extension.RootQuotaName,
	}
	if diff := cmp.Diff(labels, got.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got.Nodes != 3 || got.UnschedulableNodes != 2 || !equality.Semantic.DeepEqual(got.Min, got.Total) {
		t.Errorf("got %+v", got)
	}
	if limit := got.Max["cpu"]; limit.Value() != 4611686018427387 {
		t.Errorf("max is %s", limit.String())
	}
}

func TestTheTreeIDIsThatOfTheLabelOrAHashOfTheName(t *testing.T) {
	p := profileOf("a", "")
	// FNV-64a of "ns/profile", computed by its definition.
	hash := uint64(14695981039346656037)
	for _, b := range []byte("ns/profile") {
		hash = (hash ^ uint64(b)) * 1099511628211
	}
	if got := TreeID(p); got != strconv.FormatUint(hash, 10) {
		t.Errorf("tree ID is %s, want %d", got, hash)
	}
	p.Labels = map[string]string{extension.LabelQuotaTreeID: "mine"}
	if got := TreeID(p); got != "mine" {
		t.Errorf("tree ID is %s", got)
	}
}

func TestOtherResourcesAndInvalidProfiles(t *testing.T) {
	tests := map[string]struct {
		edit      func(*quotav1alpha1.ElasticQuotaProfile)
		wantTotal string
		wantError string
	}{
		"resources of its own": {edit: func(p *quotav1alpha1.ElasticQuotaProfile) {
			p.Annotations = map[string]string{extension.AnnotationQuotaResourceKeys: `["cpu","nvidia.com/gpu"]`}
		}, wantTotal: `{"cpu":"10","nvidia.com/gpu":"0"}`},
		"no ratio": {edit: func(*quotav1alpha1.ElasticQuotaProfile) {}, wantTotal: `{"cpu":"10","memory":"10Gi"}`},
		"resources that are no list": {edit: func(p *quotav1alpha1.ElasticQuotaProfile) {
			p.Annotations = map[string]string{extension.AnnotationQuotaResourceKeys: `7`}
		}, wantError: "resources"},
		"a ratio that is no number": {edit: func(p *quotav1alpha1.ElasticQuotaProfile) { p.Spec.ResourceRatio = new("most") }, wantError: "resourceRatio"},
		"a negative ratio":          {edit: func(p *quotav1alpha1.ElasticQuotaProfile) { p.Spec.ResourceRatio = new("-1") }, wantError: "resourceRatio"},
		"a ratio that is not one":   {edit: func(p *quotav1alpha1.ElasticQuotaProfile) { p.Spec.ResourceRatio = new("NaN") }, wantError: "resourceRatio"},
		"a selector that is none": {edit: func(p *quotav1alpha1.ElasticQuotaProfile) {
			p.Spec.NodeSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: "Near"}}}
		}, wantError: "nodeSelector"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := profileOf("a", "")
			test.edit(p)
			got, err := Decide(p, []*corev1.Node{nodeOf("a", "10", "10Gi", true)})
			if (err != nil) != (test.wantError != "") || err != nil && !strings.Contains(err.Error(), test.wantError) {
				t.Fatalf("error is %v", err)
			}
			if total := got.Annotations[extension.AnnotationQuotaTotalResource]; total != test.wantTotal {
				t.Errorf("total is %s, want %s", total, test.wantTotal)
			}
		})
	}
}

func TestAnyRatioIsReadWithoutPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := profileOf("a", rapid.OneOf(rapid.String(), rapid.StringMatching(`-?[0-9]{0,40}(\.[0-9]{0,5})?(e-?[0-9]{1,9})?(/[0-9])?`)).Draw(t, "ratio"))
		got, err := Decide(p, []*corev1.Node{nodeOf("a", "9223372036854775", "8Ei", true)})
		if total := got.Total["cpu"]; err == nil && total.Sign() < 0 {
			t.Fatalf("total is %s", total.String())
		}
	})
}

func TestPodsOfATreeAreConfinedToItsNodes(t *testing.T) {
	in := func(key string, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	term := func(expressions ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: expressions}
	}
	a, b := profileOf("a", ""), profileOf("b", "")
	a.Labels, b.Labels = map[string]string{extension.LabelQuotaTreeID: "1"}, map[string]string{extension.LabelQuotaTreeID: "1"}
	all := profileOf("a", "")
	all.Labels, all.Spec.NodeSelector = a.Labels, &metav1.LabelSelector{}
	tests := map[string]struct {
		tree     string
		profiles []quotav1alpha1.ElasticQuotaProfile
		before   []corev1.NodeSelectorTerm
		want     []corev1.NodeSelectorTerm
	}{
		"a pod that requires nothing":          {tree: "1", profiles: []quotav1alpha1.ElasticQuotaProfile{*a}, want: []corev1.NodeSelectorTerm{term(in("pool", "a"))}},
		"another tree":                         {tree: "2", profiles: []quotav1alpha1.ElasticQuotaProfile{*a}},
		"no tree":                              {profiles: []quotav1alpha1.ElasticQuotaProfile{*a}},
		"each of its terms":                    {tree: "1", profiles: []quotav1alpha1.ElasticQuotaProfile{*a}, before: []corev1.NodeSelectorTerm{term(in("x", "1")), term(in("x", "2"))}, want: []corev1.NodeSelectorTerm{term(in("x", "1"), in("pool", "a")), term(in("x", "2"), in("pool", "a"))}},
		"two profiles of one tree":             {tree: "1", profiles: []quotav1alpha1.ElasticQuotaProfile{*a, *b}, before: []corev1.NodeSelectorTerm{term(in("x", "1"))}, want: []corev1.NodeSelectorTerm{term(in("x", "1"), in("pool", "a")), term(in("x", "1"), in("pool", "b"))}},
		"a second time":                        {tree: "1", profiles: []quotav1alpha1.ElasticQuotaProfile{*a}, before: []corev1.NodeSelectorTerm{term(in("pool", "a"))}},
		"a profile of all nodes":               {tree: "1", profiles: []quotav1alpha1.ElasticQuotaProfile{*all}},
		"a term that selects nothing stays so": {tree: "1", profiles: []quotav1alpha1.ElasticQuotaProfile{*a}, before: []corev1.NodeSelectorTerm{{}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{}
			if test.before != nil {
				pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: test.before}}}
			}
			untouched := pod.DeepCopy()
			got, changed := Confine(pod, test.tree, test.profiles)
			if diff := cmp.Diff(untouched, pod); diff != "" {
				t.Errorf("the pod was modified:\n%s", diff)
			}
			if changed != (test.want != nil) {
				t.Fatalf("changed is %t: %+v", changed, got)
			}
			if changed {
				if diff := cmp.Diff(test.want, got.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms); diff != "" {
					t.Errorf("terms (-want +got):\n%s", diff)
				}
			}
		})
	}
}
