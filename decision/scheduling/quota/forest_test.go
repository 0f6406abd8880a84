package quota

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func codes(problems []Problem) map[string]finding.Code {
	found := map[string]finding.Code{}
	for _, problem := range problems {
		found[problem.Quota] = problem.Code
	}
	return found
}

func TestWhatSpecsSayWrong(t *testing.T) {
	other := func(name, parent, tree string) *Spec {
		return &Spec{Name: name, Parent: parent, TreeID: tree, Lends: true}
	}
	twin := gpu("a", 1, 0)
	twin.Namespace, twin.Created = "younger", 5
	greedy := under("parent", gpu("greedy", 1, 16))
	tests := []struct {
		name          string
		specs         []*Spec
		want          map[string]finding.Code
		wantAncestors map[string][]string
	}{
		{name: "a sound tree", specs: []*Spec{gpu("a", 1, 5), under("a", gpu("b", 1, 5))}, want: map[string]finding.Code{}, wantAncestors: map[string][]string{"b": {"a"}}},
		{name: "a missing parent", specs: []*Spec{under("gone", gpu("a", 1, 0))}, want: map[string]finding.Code{"a": finding.QuotaParentMissing}, wantAncestors: map[string][]string{"a": nil}},
		{
			name: "a cycle, and a quota below it", specs: []*Spec{under("b", gpu("a", 1, 0)), under("a", gpu("b", 1, 0)), under("a", gpu("c", 1, 0))},
			want: map[string]finding.Code{"a": finding.QuotaCycle, "b": finding.QuotaCycle}, wantAncestors: map[string][]string{"a": nil, "b": nil, "c": {"a"}},
		},
		{name: "a quota that is its own parent", specs: []*Spec{under("a", gpu("a", 1, 0))}, want: map[string]finding.Code{"a": finding.QuotaCycle}},
		{name: "two of one name", specs: []*Spec{twin, gpu("a", 1, 0)}, want: map[string]finding.Code{"a": finding.QuotaNameTaken}},
		{name: "a parent in another tree", specs: []*Spec{other("a", "", "x"), other("b", "a", "y")}, want: map[string]finding.Code{"b": finding.QuotaParentMissing}, wantAncestors: map[string][]string{"b": nil}},
		{name: "a child is in the tree of its parent", specs: []*Spec{other("a", "", "x"), other("b", "a", "")}, want: map[string]finding.Code{}, wantAncestors: map[string][]string{"b": {"a"}}},
		{name: "children that are guaranteed more", specs: []*Spec{gpu("parent", 1, 10), greedy}, want: map[string]finding.Code{"parent": finding.QuotaMinOvercommitted}},
		{
			name: "a resource that the parent does not share", specs: []*Spec{gpu("parent", 1, 0), {Name: "c", Parent: "parent", Max: amounts("cpu", 1)}},
			want: map[string]finding.Code{"c": finding.QuotaKeysMismatch},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			forest := BuildForest(Options{}, test.specs)
			if diff := cmp.Diff(test.want, codes(forest.Problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			for name, want := range test.wantAncestors {
				if diff := cmp.Diff(want, forest.Tree(name).Ancestors(name)); diff != "" {
					t.Errorf("ancestors of %s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func TestTreesHaveTheirOwnTotals(t *testing.T) {
	root := func(name, id string, total int, ignore bool) *Spec {
		spec := gpu(name, 1, 0)
		spec.TreeID, spec.TreeRoot, spec.Total, spec.IgnoreDefaultTree = id, true, amounts("gpu", total), ignore
		return spec
	}
	forest := buildForest(Options{}, amounts("gpu", 100), root("x", "tx", 30, false), root("y", "ty", 20, true), gpu("plain", 1, 0))
	for _, name := range []string{"x", "y", "plain"} {
		ask(t, forest, name, amounts("gpu", 500))
	}
	if diff := cmp.Diff([]int64{30, 20, 70}, runtimes(t, forest, "gpu", "x", "y", "plain")); diff != "" {
		t.Errorf("runtime (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"", "tx", "ty"}, forest.TreeIDs()); diff != "" {
		t.Errorf("trees (-want +got):\n%s", diff)
	}
	clone := forest.Clone()
	clone.SetTotal(amounts("gpu", 40))
	ask(t, clone, "x", amounts("gpu", 1))
	if diff := cmp.Diff([]int64{30, 70}, runtimes(t, forest, "gpu", "x", "plain")); diff != "" {
		t.Errorf("the clone is not independent (-want +got):\n%s", diff)
	}
	if status, _ := forest.Tree("x").Status("x"); !cmp.Equal(status.ChildRequest, amounts("gpu", 500)) {
		t.Errorf("the clone shares its sums: %v", status.ChildRequest)
	}
	if diff := cmp.Diff([]int64{10}, runtimes(t, clone, "gpu", "plain")); diff != "" {
		t.Errorf("runtime of the clone (-want +got):\n%s", diff)
	}
}

func TestWeightsBeyond64Bits(t *testing.T) {
	var specs []*Spec
	for _, name := range []string{"a", "b", "c", "d"} {
		specs = append(specs, &Spec{Name: name, Lends: true, Max: Amounts{{"gpu", math.MaxInt64}}})
	}
	forest := buildForest(Options{ScaleMin: true}, amounts("gpu", 10), specs...)
	for _, spec := range specs {
		ask(t, forest, spec.Name, Amounts{{"gpu", math.MaxInt64}})
		ask(t, forest, spec.Name, Amounts{{"gpu", math.MaxInt64}})
	}
	if diff := cmp.Diff([]int64{3, 3, 2, 2}, runtimes(t, forest, "gpu", "a", "b", "c", "d")); diff != "" {
		t.Errorf("runtime (-want +got):\n%s", diff)
	}
}

func TestDecode(t *testing.T) {
	object := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "team", Labels: map[string]string{
			extension.LabelQuotaParent: "dept", extension.LabelQuotaIsParent: "true", extension.LabelQuotaAllowLentResource: "false",
			extension.LabelQuotaTreeID: "x", extension.LabelQuotaIsRoot: "true", extension.LabelQuotaIgnoreDefaultTree: "true",
		}, Annotations: map[string]string{
			extension.AnnotationQuotaSharedWeight: `{"cpu":"2"}`, extension.AnnotationQuotaNamespaces: `["b","a","b"]`,
			extension.AnnotationQuotaTotalResource: `{"cpu":"100","memory":"1Gi"}`,
		},
	}, Spec: schedulingsigsv1alpha1.ElasticQuotaSpec{Min: amounts("cpu", 1500).List(), Max: amounts("cpu", 3000, "memory", 5).List()}}
	got, problems := Decode(object)
	want := Spec{
		Namespace: "ns", Name: "team", Parent: "dept", TreeID: "x", IsParent: true, TreeRoot: true, IgnoreDefaultTree: true, Created: got.Created,
		Min: amounts("cpu", 1500), Max: amounts("cpu", 3000, "memory", 5), Weight: amounts("cpu", 2000),
		Total: amounts("cpu", 100_000, "memory", 1<<30), Namespaces: []string{"a", "b"},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Errorf("problems %v, spec (-want +got):\n%s", problems, diff)
	}
	if !got.Equal(&want) {
		t.Error("equal specs are different")
	}
}

func TestDecodeReportsWhatItCannotUse(t *testing.T) {
	object := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Name: "team", Labels: map[string]string{extension.LabelQuotaIsRoot: "true"}, Annotations: map[string]string{
		extension.AnnotationQuotaSharedWeight: "heavy", extension.AnnotationQuotaNamespaces: "{", extension.AnnotationQuotaTotalResource: `["cpu"]`,
	}}, Spec: schedulingsigsv1alpha1.ElasticQuotaSpec{Min: amounts("cpu", 9).List(), Max: amounts("cpu", 3, "memory", -1).List()}}
	spec, problems := Decode(object)
	if len(problems) != 5 {
		t.Errorf("%d problems, want 5: %v", len(problems), problems)
	}
	if diff := cmp.Diff(amounts("cpu", 3), spec.Min); diff != "" {
		t.Errorf("min is not held to max (-want +got):\n%s", diff)
	}
}

func TestArgs(t *testing.T) {
	decode := func(raw string) (*Args, error) { return DecodeArgs(&runtime.Unknown{Raw: []byte(raw)}) }
	args, err := decode("")
	if err != nil {
		t.Fatal(err)
	}
	if rules, options := args.Rules(), args.Options(); !rules.Runtime || rules.Parents || !options.ScaleMin || options.GuaranteeUsage {
		t.Errorf("defaults are %+v, %+v", rules, options)
	}
	if cpu, _ := args.Options().DefaultMax.Get("cpu"); cpu != Unlimited {
		t.Errorf("the default quota has at most %d cpu", cpu)
	}
	for raw, want := range map[string]string{
		`{"delayEvictTime":"-1s"}`: "delayEvictTime", `{"revokePodInterval":"0s"}`: "revokePodInterval", `{"quotaSnapshotUpdateInterval":"0s"}`: "quotaSnapshotUpdateInterval",
		`{"defaultQuotaGroupMax":{"cpu":"-1"}}`: "defaultQuotaGroupMax[cpu]", `{"systemQuotaGroupMax":{"memory":"-1"}}`: "systemQuotaGroupMax[memory]",
		`{"hookPlugins":[{"key":"k","factoryKey":"f"}]}`: "hookPlugins[0].factoryKey", `{"monitorAllQuota":true}`: "monitorAllQuota", `{"kind":"X"}`: "kind",
	} {
		if _, err := decode(raw); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), Kind) {
			t.Errorf("%s: error %v, want one that names %s", raw, err, want)
		}
	}
}
