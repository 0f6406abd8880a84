package quota

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func amounts(pairs ...any) Amounts {
	var list Amounts
	for i := 0; i < len(pairs); i += 2 {
		list = list.With(corev1.ResourceName(pairs[i].(string)), int64(pairs[i+1].(int)))
	}
	return list
}

// gpu makes a quota of one countable resource.
func gpu(name string, weight, minimum int) *Spec {
	return &Spec{Name: name, Lends: true, Min: amounts("gpu", minimum), Max: amounts("gpu", 1_000_000), Weight: amounts("gpu", weight)}
}

// maxed claims all that can be written.
func maxed(name string) *Spec {
	all := Amounts{{"gpu", Unlimited}}
	return &Spec{Name: name, Lends: true, Min: all, Max: all, Weight: all}
}

func under(parent string, spec *Spec) *Spec {
	spec.Parent = parent
	return spec
}

func buildForest(options Options, total Amounts, specs ...*Spec) *Forest {
	forest := BuildForest(options, specs)
	forest.SetTotal(total)
	return forest
}

func ask(t testing.TB, forest *Forest, quota string, request Amounts) {
	t.Helper()
	if tree := forest.Tree(quota); tree == nil || !tree.Hold(quota, Holding{Request: request}) {
		t.Fatalf("there is no quota %s", quota)
	}
}

func runtimes(t testing.TB, forest *Forest, resource string, quotas ...string) []int64 {
	t.Helper()
	list := make([]int64, len(quotas))
	for i, quota := range quotas {
		status, found := forest.Tree(quota).Status(quota)
		if !found {
			t.Fatalf("there is no quota %s", quota)
		}
		list[i], _ = status.Runtime.Get(corev1.ResourceName(resource))
	}
	return list
}

func TestRuntimeOfSiblings(t *testing.T) {
	donor := []*Spec{gpu("a-donor", 100, 81)}
	donorRequests, donorWant := []int{0}, []int64{0}
	for i := range 10 {
		donor = append(donor, gpu(fmt.Sprintf("borrower-%02d", i), 1, 0))
		donorRequests = append(donorRequests, 81)
		donorWant = append(donorWant, 8)
	}
	donorWant[1] = 9
	keeper := gpu("keeper", 10, 30)
	keeper.Lends = false
	tests := []struct {
		name     string
		total    int
		specs    []*Spec
		requests []int
		want     []int64
	}{
		{
			name: "what is left over goes by weight to those that ask for more than their min", total: 100,
			specs:    []*Spec{gpu("n1", 40, 10), gpu("n2", 60, 15), gpu("n3", 50, 20), gpu("n4", 80, 15)},
			requests: []int{5, 20, 40, 70}, want: []int64{5, 20, 35, 40},
		},
		{
			name: "without a weight there is nothing beyond min", total: 100,
			specs:    []*Spec{gpu("n1", 40, 10), gpu("n2", 60, 15), gpu("n3", 50, 20), gpu("n4", 0, 15)},
			requests: []int{5, 20, 40, 70}, want: []int64{5, 20, 40, 15},
		},
		{name: "single devices are shared out without losing one", total: 81, specs: donor, requests: donorRequests, want: donorWant},
		{name: "a quota that does not lend keeps its min", total: 50, specs: []*Spec{gpu("asking", 10, 0), keeper}, requests: []int{50, 0}, want: []int64{20, 30}},
		{name: "mins beyond the total are scaled", total: 100, specs: []*Spec{gpu("a", 1, 100), gpu("b", 1, 100)}, requests: []int{100, 100}, want: []int64{50, 50}},
		{name: "small mins are kept whole, the largest are cut to one level", total: 100, specs: []*Spec{gpu("a", 1, 10), gpu("b", 1, 60), gpu("c", 1, 90)},
			requests: []int{100, 100, 100}, want: []int64{10, 45, 45}},
		{name: "a min that is not asked for is not in the way", total: 100, specs: []*Spec{gpu("a", 1, 80), gpu("b", 1, 80)}, requests: []int{10, 80}, want: []int64{10, 80}},
		{name: "a min beyond all that there is leaves the others theirs", total: 100, specs: []*Spec{maxed("liar"), gpu("a", 100, 20), gpu("b", 100, 30)},
			requests: []int{1 << 60, 100, 100}, want: []int64{38, 26, 36}},
		{name: "and a part to those without a min", total: 100, specs: []*Spec{maxed("liar"), gpu("a", 100, 0), gpu("b", 100, 0)},
			requests: []int{1 << 60, 100, 100}, want: []int64{55, 23, 22}},
		{name: "nobody gets more than he asks for", total: 100, specs: []*Spec{gpu("a", 1, 10), gpu("b", 1, 10)}, requests: []int{30, 10}, want: []int64{30, 10}},
		{name: "an empty cluster has nothing to share", total: 0, specs: []*Spec{gpu("a", 1, 10)}, requests: []int{30}, want: []int64{0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			forest := buildForest(Options{ScaleMin: true}, amounts("gpu", test.total), test.specs...)
			names := make([]string, len(test.specs))
			for i, spec := range test.specs {
				names[i] = spec.Name
				ask(t, forest, spec.Name, amounts("gpu", test.requests[i]))
			}
			if diff := cmp.Diff(test.want, runtimes(t, forest, "gpu", names...)); diff != "" {
				t.Errorf("runtime (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestIsLimitedByMax(t *testing.T) {
	spec := &Spec{Name: "a", Lends: true, Max: amounts("cpu", 30_000, "memory", 60)}
	forest := buildForest(Options{}, amounts("cpu", 100_000, "memory", 200), spec)
	ask(t, forest, "a", amounts("cpu", 55_000, "memory", 75))
	status, _ := forest.Tree("a").Status("a")
	if diff := cmp.Diff(amounts("cpu", 30_000, "memory", 60), status.Runtime); diff != "" {
		t.Errorf("runtime (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(amounts("cpu", 55_000, "memory", 75), status.Request); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestMinIsScaledWhereMinsDoNotFit(t *testing.T) {
	for total, want := range map[int][]int64{200: {50, 50, 50}, 100: {50, 25, 25}, 50: {50, 0, 0}} {
		fixed := gpu("a-fixed", 0, 50)
		fixed.FixedMin = true
		forest := buildForest(Options{ScaleMin: true}, amounts("gpu", total), fixed, gpu("b", 0, 50), gpu("c", 0, 50))
		for _, name := range []string{"a-fixed", "b", "c"} {
			ask(t, forest, name, amounts("gpu", 500))
		}
		if diff := cmp.Diff(want, runtimes(t, forest, "gpu", "a-fixed", "b", "c")); diff != "" {
			t.Errorf("total %d: runtime (-want +got):\n%s", total, diff)
		}
	}
	if _, found := buildForest(Options{ScaleMin: true}, nil).ByID("").Status("unknown"); found {
		t.Error("a quota that does not exist has a status")
	}
}

func TestMinIsNotScaledWithoutTheOption(t *testing.T) {
	forest := buildForest(Options{}, amounts("gpu", 100), gpu("a", 1, 100), gpu("b", 1, 100))
	ask(t, forest, "a", amounts("gpu", 100))
	ask(t, forest, "b", amounts("gpu", 100))
	if diff := cmp.Diff([]int64{100, 100}, runtimes(t, forest, "gpu", "a", "b")); diff != "" {
		t.Errorf("runtime (-want +got):\n%s", diff)
	}
}

// TestAMinBeyondAllIsHarmlessWithoutTheOption: it is promised, and what the others have is still theirs.
func TestAMinBeyondAllIsHarmlessWithoutTheOption(t *testing.T) {
	forest := buildForest(Options{}, amounts("gpu", 100), maxed("liar"), gpu("a", 100, 30), gpu("b", 100, 0))
	for _, name := range []string{"liar", "a", "b"} {
		ask(t, forest, name, amounts("gpu", math.MaxInt64))
	}
	if diff := cmp.Diff([]int64{math.MaxInt64, 49, 18}, runtimes(t, forest, "gpu", "liar", "a", "b")); diff != "" {
		t.Errorf("runtime (-want +got):\n%s", diff)
	}
}

func TestUsageIsGuaranteedWithTheOption(t *testing.T) {
	for guarantee, want := range map[bool][]int64{false: {25, 75}, true: {60, 40}} {
		forest := buildForest(Options{ScaleMin: true, GuaranteeUsage: guarantee}, amounts("gpu", 100), gpu("user", 1, 0), gpu("wanter", 3, 0))
		forest.Tree("user").Hold("user", Holding{Request: amounts("gpu", 60), Assigned: true})
		ask(t, forest, "wanter", amounts("gpu", 90))
		if diff := cmp.Diff(want, runtimes(t, forest, "gpu", "user", "wanter")); diff != "" {
			t.Errorf("guarantee %v: runtime (-want +got):\n%s", guarantee, diff)
		}
	}
}

func TestDefaultAndSystemQuotasAreTakenOffTheTotal(t *testing.T) {
	forest := buildForest(Options{}, amounts("gpu", 100), gpu("a", 1, 0))
	tree := forest.Tree("a")
	ask(t, forest, "a", amounts("gpu", 100))
	runtimes(t, forest, "gpu", "a")
	tree.Hold("koordinator-default-quota", Holding{Request: amounts("gpu", 10), Assigned: true})
	tree.Hold("koordinator-system-quota", Holding{Request: amounts("gpu", 5), Assigned: true})
	tree.Hold("koordinator-default-quota", Holding{Request: amounts("gpu", 50)})
	if diff := cmp.Diff([]int64{85}, runtimes(t, forest, "gpu", "a")); diff != "" {
		t.Errorf("runtime (-want +got):\n%s", diff)
	}
}

func TestAggregationGoesUp(t *testing.T) {
	parent, child := gpu("parent", 1, 20), under("parent", gpu("child", 1, 0))
	parent.IsParent, parent.Max = true, amounts("gpu", 30)
	keeps := under("parent", gpu("keeps", 1, 15))
	keeps.Lends = false
	forest := buildForest(Options{}, amounts("gpu", 100), parent, child, keeps)
	tree := forest.Tree("parent")
	tree.Hold("child", Holding{Request: amounts("gpu", 25), Assigned: true, NonPreemptible: true})
	tree.Hold("child", Holding{Request: amounts("gpu", 5)})
	status, _ := tree.Status("parent")
	want := Status{
		Used: amounts("gpu", 25), Runtime: amounts("gpu", 30), Request: amounts("gpu", 45), ChildRequest: amounts("gpu", 45),
		NonPreemptibleUsed: amounts("gpu", 25), NonPreemptibleRequest: amounts("gpu", 25),
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("status of the parent (-want +got):\n%s", diff)
	}
	tree.Release("child", Holding{Request: amounts("gpu", 25), Assigned: true, NonPreemptible: true})
	tree.Release("child", Holding{Request: amounts("gpu", 5)})
	status, _ = tree.Status("parent")
	if used, _ := status.Used.Get("gpu"); used != 0 {
		t.Errorf("after all pods are gone %d are used", used)
	}
}

func TestAWeightAloneCanBeAdjusted(t *testing.T) {
	forest := buildForest(Options{}, amounts("gpu", 100), gpu("a", 1, 0), gpu("b", 1, 0))
	ask(t, forest, "a", amounts("gpu", 100))
	ask(t, forest, "b", amounts("gpu", 100))
	runtimes(t, forest, "gpu", "a", "b")
	if !forest.Adjust(gpu("a", 3, 0)) {
		t.Fatal("it was not adjusted")
	}
	if diff := cmp.Diff([]int64{75, 25}, runtimes(t, forest, "gpu", "a", "b")); diff != "" {
		t.Errorf("runtime (-want +got):\n%s", diff)
	}
	elsewhere := under("b", gpu("a", 3, 0))
	if forest.Adjust(elsewhere) || forest.Adjust(gpu("unknown", 1, 0)) {
		t.Error("a quota was adjusted to another place")
	}
}

func TestMinsBeyondTheTotalAreReported(t *testing.T) {
	forest := buildForest(Options{}, amounts("gpu", 100), gpu("a", 1, 60), maxed("liar"), under("a", gpu("child", 1, 60)))
	problems := forest.Overclaims()
	if len(problems) != 1 || problems[0].Quota != "liar" || problems[0].Code != "KOORD1215" || !strings.Contains(problems[0].Message, "total of the tree, 100 of gpu") {
		t.Errorf("problems %+v", problems)
	}
	if problems := buildForest(Options{}, amounts("gpu", 100), gpu("a", 1, 60), gpu("b", 1, 40)).Overclaims(); len(problems) > 0 {
		t.Errorf("mins that fit have problems %+v", problems)
	}
}

func TestAnExplanationShowsACappedMin(t *testing.T) {
	forest := buildForest(Options{ScaleMin: true}, amounts("gpu", 100), gpu("a", 100, 90), gpu("b", 100, 90))
	ask(t, forest, "a", amounts("gpu", 100))
	ask(t, forest, "b", amounts("gpu", 100))
	tree := forest.Tree("a")
	sharing := tree.Explain("koordinator-root-quota", "gpu")
	if child := sharing.Children[0]; child.Min != 90 || child.Floor != 50 || !child.Capped {
		t.Errorf("trace %+v", child)
	}
	var admission Admission
	tree.Admission("a", Holding{Request: amounts("gpu", 60)}, Rules{Runtime: true}, &admission)
	text := Message(tree.Shortages(&admission, admission.Verdict()))
	if want := "its min of 90 counts as 50, because the mins beside it add up to more than there is"; !strings.Contains(text, want) {
		t.Errorf("the explanation is %q, want %q in it", text, want)
	}
}
