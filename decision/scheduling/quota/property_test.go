package quota

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
)

var testResources = []corev1.ResourceName{"cpu", "gpu"}

// drawAmount is small most of the time, and sometimes as large as amounts get.
func drawAmount(t *rapid.T, label string) int64 {
	switch rapid.IntRange(0, 19).Draw(t, label+" scale") {
	case 0:
		return rapid.Int64Range(0, math.MaxInt64/16).Draw(t, label)
	case 4:
		return rapid.SampledFrom([]int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 2}).Draw(t, label)
	case 1, 2, 3:
		return 0
	}
	return rapid.Int64Range(0, 200).Draw(t, label)
}

func drawAmounts(t *rapid.T, label string) Amounts {
	var list Amounts
	for _, name := range testResources {
		list = append(list, Amount{name, drawAmount(t, label+string(name))})
	}
	return list
}

// drawSpecs draws a tree of up to 12 quotas in up to 4 levels. Mins never exceed max.
func drawSpecs(t *rapid.T) []*Spec {
	var specs []*Spec
	for i := range rapid.IntRange(1, 12).Draw(t, "quotas") {
		spec := &Spec{Name: fmt.Sprintf("q%02d", i), Lends: rapid.Bool().Draw(t, "lends"), Parent: extension.RootQuotaName,
			FixedMin: rapid.IntRange(0, 4).Draw(t, "fixed") == 0, Max: drawAmounts(t, "max"), Min: drawAmounts(t, "min")}
		for column := range spec.Min {
			spec.Min[column].Value = min(spec.Min[column].Value, spec.Max[column].Value)
		}
		if rapid.Bool().Draw(t, "weighted") {
			spec.Weight = drawAmounts(t, "weight")
		}
		if i > 0 && rapid.Bool().Draw(t, "child") {
			spec.Parent = specs[rapid.IntRange(max(0, i-4), i-1).Draw(t, "parent")].Name
		}
		specs = append(specs, spec)
	}
	return specs
}

func drawHolding(t *rapid.T) Holding {
	return Holding{Request: drawAmounts(t, "request"), Assigned: rapid.Bool().Draw(t, "assigned"), NonPreemptible: rapid.Bool().Draw(t, "non-preemptible")}
}

// world is a forest beside the plain list of what was put into it.
type world struct {
	options  Options
	specs    []*Spec
	total    Amounts
	forest   *Forest
	holdings map[string][]Holding
}

func drawWorld(t *rapid.T) *world {
	w := &world{options: Options{ScaleMin: rapid.Bool().Draw(t, "scale"), GuaranteeUsage: rapid.IntRange(0, 3).Draw(t, "guarantee") == 0},
		specs: drawSpecs(t), total: drawAmounts(t, "total"), holdings: map[string][]Holding{}}
	w.forest = buildForest(w.options, w.total, w.specs...)
	return w
}

func (w *world) change(t *rapid.T) {
	name := rapid.SampledFrom(w.specs).Draw(t, "quota").Name
	if held := w.holdings[name]; len(held) > 0 && rapid.Bool().Draw(t, "release") {
		i := rapid.IntRange(0, len(held)-1).Draw(t, "pod")
		w.forest.Tree(name).Release(name, held[i])
		w.holdings[name] = slices.Delete(held, i, i+1)
		return
	}
	holding := drawHolding(t)
	w.forest.Tree(name).Hold(name, holding)
	w.holdings[name] = append(w.holdings[name], holding)
}

func (w *world) compare(t *rapid.T) {
	for column, resource := range testResources {
		specs := map[string]*Spec{}
		for _, spec := range w.specs {
			specs[spec.Name] = spec
		}
		o := &oracle{options: w.options, resource: resource, total: big.NewInt(w.total[column].Value), specs: specs, holdings: w.holdings, result: map[string]*big.Int{}}
		o.share(extension.RootQuotaName, big.NewInt(w.total[column].Value))
		for _, spec := range w.specs {
			status, _ := w.forest.Tree(spec.Name).Status(spec.Name)
			if got, _ := status.Runtime.Get(resource); o.result[spec.Name].Cmp(big.NewInt(got)) != 0 {
				t.Fatalf("runtime of %s of %s is %d, want %d", resource, spec.Name, got, o.result[spec.Name])
			}
		}
	}
}

func TestRuntimeIsThatOfTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range rapid.IntRange(0, 12).Draw(t, "changes") {
			w.change(t)
			if rapid.Bool().Draw(t, "read in between") {
				w.compare(t)
			}
		}
		w.compare(t)
	})
}

func TestChangesLeadWhereAFreshTreeBegins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			w.change(t)
			name := rapid.SampledFrom(w.specs).Draw(t, "read").Name
			w.forest.Tree(name).Status(name)
		}
		fresh := buildForest(w.options, w.total, w.specs...)
		for name, held := range w.holdings {
			for _, holding := range held {
				fresh.Tree(name).Hold(name, holding)
			}
		}
		fresh.ByID("").Refresh()
		for _, spec := range w.specs {
			got, _ := w.forest.Tree(spec.Name).Status(spec.Name)
			want, _ := fresh.Tree(spec.Name).Status(spec.Name)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s: after changes %v, from the start %v", spec.Name, got, want)
			}
		}
	})
}

func TestAdjustingIsBuildingAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range rapid.IntRange(0, 10).Draw(t, "changes") {
			w.change(t)
		}
		clone := w.forest.Clone()
		i := rapid.IntRange(0, len(w.specs)-1).Draw(t, "adjusted")
		adjusted := *w.specs[i]
		adjusted.Max, adjusted.Weight, adjusted.Lends = drawAmounts(t, "new max"), nil, !adjusted.Lends
		adjusted.Min = adjusted.Max
		if !clone.Adjust(&adjusted) {
			t.Fatal("it was not adjusted")
		}
		w.compare(t) // the original is untouched
		w.specs, w.forest = slices.Clone(w.specs), clone
		w.specs[i] = &adjusted
		w.compare(t)
	})
}

func TestChildrenNeverShareMoreThanThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.options = Options{ScaleMin: true}
		for _, spec := range w.specs {
			spec.FixedMin = false
		}
		w.forest = buildForest(w.options, w.total, w.specs...)
		for range rapid.IntRange(0, 15).Draw(t, "changes") {
			w.change(t)
		}
		for _, parent := range append([]*Spec{{Name: extension.RootQuotaName}}, w.specs...) {
			for _, resource := range testResources {
				sharing := w.forest.ByID("").Explain(parent.Name, resource)
				if sharing == nil {
					continue
				}
				checkConservation(t, sharing)
			}
		}
	})
}

// TestNobodyGainsByClaimingMore: of a min that does not fit anyway, a larger one takes nothing from the others.
func TestNobodyGainsByClaimingMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(1, 1000).Draw(t, "total")
		honest := []*Spec{gpu("liar", 1, 0)}
		for i := range rapid.IntRange(1, 6).Draw(t, "others") {
			honest = append(honest, gpu(fmt.Sprintf("other-%d", i), rapid.IntRange(1, 100).Draw(t, "weight"), rapid.IntRange(0, int(total)).Draw(t, "min")))
		}
		options := Options{ScaleMin: true, GuaranteeUsage: rapid.Bool().Draw(t, "guarantee")}
		runtimes := func(claim int64) map[string]int64 {
			specs := slices.Clone(honest)
			specs[0] = &Spec{Name: "liar", Lends: true, Min: Amounts{{"gpu", claim}}, Max: Amounts{{"gpu", claim}}}
			forest, out := buildForest(options, Amounts{{"gpu", total}}, specs...), map[string]int64{}
			for _, spec := range specs {
				forest.Tree(spec.Name).Hold(spec.Name, Holding{Request: Amounts{{"gpu", Unlimited}}})
			}
			for _, spec := range specs {
				status, _ := forest.Tree(spec.Name).Status(spec.Name)
				out[spec.Name], _ = status.Runtime.Get("gpu")
			}
			return out
		}
		plausible, absurd := runtimes(total), runtimes(rapid.SampledFrom([]int64{2 * total, 10 * total, math.MaxInt64}).Draw(t, "claim"))
		if absurd["liar"] > plausible["liar"]+int64(len(honest)) { // a unit each where the level has a fraction
			t.Fatalf("%d of %d with a claim beyond the total, %d with the total", absurd["liar"], total, plausible["liar"])
		}
		for _, spec := range honest[1:] {
			least, _ := spec.Min.Get("gpu")
			if equal := total / int64(len(honest)); absurd[spec.Name] < min(least, equal) {
				t.Fatalf("%s gets %d, its min is %d and an equal part %d", spec.Name, absurd[spec.Name], least, equal)
			}
		}
	})
}

// checkConservation holds the trace of one sharing against what must be true of it.
func checkConservation(t *rapid.T, s *Sharing) {
	sum, gained, short := new(big.Int), int64(0), false
	lent := map[string]int64{}
	for _, child := range s.Children {
		sum.Add(sum, big.NewInt(child.Runtime))
		gained += child.Runtime - child.Kept
		short = short || child.Runtime < child.Request && child.Weight > 0
		lent[child.Quota] = child.Lent()
		if child.Runtime > max(child.Request, child.Kept) {
			t.Fatalf("%s gets %d of %s and asks for %d", child.Quota, child.Runtime, s.Resource, child.Request)
		}
	}
	if sum.Cmp(big.NewInt(s.Total)) > 0 {
		t.Fatalf("the children of %s share %d of %d %s", s.Parent, sum, s.Total, s.Resource)
	}
	if gained != s.LeftOver-s.Unshared && len(s.Rounds) > 0 {
		t.Fatalf("of %d left over %d were gained and %d are unshared", s.LeftOver, gained, s.Unshared)
	}
	if short && s.LeftOver > gained {
		t.Fatalf("somebody under %s is short of %s while %d of %d are unused", s.Parent, s.Resource, s.LeftOver-gained, s.LeftOver)
	}
	var loans int64
	for _, loan := range s.Loans {
		loans += loan.Amount
		if lent[loan.From] -= loan.Amount; loan.From != "" && lent[loan.From] < 0 {
			t.Fatalf("%s lends more than it leaves", loan.From)
		}
	}
	if loans != gained {
		t.Fatalf("loans add up to %d, gains to %d", loans, gained)
	}
}

func TestAdmissionDoesNotDependOnWhatWasSupposedAndTakenBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range rapid.IntRange(0, 8).Draw(t, "changes") {
			w.change(t)
		}
		name, holding := rapid.SampledFrom(w.specs).Draw(t, "quota").Name, drawHolding(t)
		tree := w.forest.Tree(name)
		var admission Admission
		tree.Admission(name, holding, Rules{Runtime: true, Parents: true}, &admission)
		before := admission.Verdict()
		if !before.Passed() && !IsReason(admission.Reason(before)) {
			t.Fatalf("%q is no reason", admission.Reason(before))
		}
		other, gone := rapid.SampledFrom(w.specs).Draw(t, "other").Name, drawHolding(t)
		admission.Remove(other, tree.Ancestors(other), gone)
		admission.Add(other, tree.Ancestors(other), gone)
		if after := admission.Verdict(); after != before {
			t.Fatalf("verdict %v became %v", before, after)
		}
	})
}

func TestForestHasAPlaceForEveryQuotaWhateverTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var specs []*Spec
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "", extension.RootQuotaName, extension.DefaultQuotaName})
		tree := rapid.SampledFrom([]string{"", "", "x", "y"})
		for i := range rapid.IntRange(0, 10).Draw(t, "quotas") {
			specs = append(specs, &Spec{Namespace: fmt.Sprint(i), Name: name.Draw(t, "name"), Parent: name.Draw(t, "parent"), TreeID: tree.Draw(t, "tree"),
				TreeRoot: rapid.Bool().Draw(t, "root"), Total: drawAmounts(t, "total")})
		}
		forest := BuildForest(Options{}, specs)
		shuffled := BuildForest(Options{}, rapid.Permutation(specs).Draw(t, "order"))
		if fmt.Sprint(forest.Problems) != fmt.Sprint(shuffled.Problems) {
			t.Fatalf("problems depend on the order: %v, %v", forest.Problems, shuffled.Problems)
		}
		for _, spec := range specs {
			if spec.Name == extension.RootQuotaName {
				continue
			}
			home := forest.Tree(spec.Name)
			if home == nil || len(home.Ancestors(spec.Name)) > len(specs) {
				t.Fatalf("quota %q has no place", spec.Name)
			}
			if got, want := home.Ancestors(spec.Name), shuffled.Tree(spec.Name).Ancestors(spec.Name); !slices.Equal(got, want) {
				t.Fatalf("quota %q stands under %v or %v", spec.Name, got, want)
			}
		}
	})
}
