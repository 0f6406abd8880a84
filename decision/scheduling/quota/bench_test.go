package quota

import (
	"fmt"
	"testing"

	"koordinator.sh/koord/api/extension"
)

// tall makes a tree of 10,000 leaves on the fourth level, ten children to each quota, three resources.
func tall() (*Tree, []string) {
	var specs []*Spec
	parents := []string{extension.RootQuotaName}
	for level := 1; level <= 4; level++ {
		var next []string
		for _, parent := range parents {
			for i := range 10 {
				name := fmt.Sprintf("%s-%d", parent, i)
				if level == 1 {
					name = fmt.Sprintf("q-%d", i)
				}
				size := 10 * 100_000
				for range level {
					size /= 10
				}
				specs = append(specs, &Spec{Name: name, Parent: parent, Lends: true, IsParent: level < 4,
					Min: amounts("cpu", size, "memory", size<<20, "nvidia.com/gpu", size/100),
					Max: amounts("cpu", size*3, "memory", size*3<<20, "nvidia.com/gpu", size/30)})
				next = append(next, name)
			}
		}
		parents = next
	}
	forest := BuildForest(Options{ScaleMin: true}, specs)
	forest.SetTotal(amounts("cpu", 1_000_000, "memory", 1_000_000<<20, "nvidia.com/gpu", 10_000))
	tree := forest.ByID("")
	for i, leaf := range parents {
		tree.Hold(leaf, Holding{Request: amounts("cpu", 37*(i%13), "memory", 41*(i%7)<<20, "nvidia.com/gpu", i%3), Assigned: i%2 == 0})
	}
	tree.Refresh()
	return tree, parents
}

// flat makes siblings without levels, as upstream's benchmark does.
func flat(n int) (*Tree, []string) {
	var specs []*Spec
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("q-%05d", i))
		specs = append(specs, &Spec{Name: names[i], Lends: true, Min: amounts("cpu", 100, "memory", 100<<20), Max: amounts("cpu", 400, "memory", 400<<20)})
	}
	forest := BuildForest(Options{ScaleMin: true}, specs)
	forest.SetTotal(amounts("cpu", 200*n, "memory", 200*n<<20))
	tree := forest.ByID("")
	for i, name := range names {
		tree.Hold(name, Holding{Request: amounts("cpu", 37*(i%13), "memory", 41*(i%17)<<20)})
	}
	tree.Refresh()
	return tree, names
}

func change(tree *Tree, quota string, holding Holding, admission *Admission, step int) {
	if step%2 == 0 {
		tree.Hold(quota, holding)
	} else {
		tree.Release(quota, holding)
	}
	tree.Admission(quota, holding, Rules{Runtime: true, Parents: true}, admission)
	admission.Verdict()
}

func benchmarkChange(b *testing.B, tree *Tree, names []string) {
	holding, admission := Holding{Request: amounts("cpu", 700, "memory", 500<<20, "nvidia.com/gpu", 1), Assigned: true}, &Admission{}
	b.ReportAllocs()
	step := 0
	for b.Loop() {
		change(tree, names[(step/2*7919)%len(names)], holding, admission, step)
		step++
	}
}

// BenchmarkChange counts or releases one pod of a quota and decides on another one: the hot path of scheduling.
func BenchmarkChange(b *testing.B) {
	b.Run("10k-leaves-depth-4", func(b *testing.B) { tree, names := tall(); benchmarkChange(b, tree, names) })
	b.Run("2k-flat", func(b *testing.B) { tree, names := flat(2000); benchmarkChange(b, tree, names) })
	b.Run("10k-flat", func(b *testing.B) { tree, names := flat(10000); benchmarkChange(b, tree, names) })
}

func BenchmarkRefresh(b *testing.B) {
	tree, _ := tall()
	b.ReportAllocs()
	for b.Loop() {
		for row := range tree.nodes {
			tree.nodes[row].stale = true
		}
		tree.Refresh()
	}
}

func BenchmarkBuildForest(b *testing.B) {
	tree, _ := tall()
	var specs []*Spec
	for spec := range tree.Quotas {
		if !extension.IsBuiltInQuota(spec.Name) {
			specs = append(specs, spec)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		BuildForest(Options{ScaleMin: true}, specs)
	}
}

func BenchmarkClone(b *testing.B) {
	tree, _ := tall()
	b.ReportAllocs()
	for b.Loop() {
		tree.Clone()
	}
}

func TestChangesDoNotAllocate(t *testing.T) {
	tree, names := tall()
	holding, admission := Holding{Request: amounts("cpu", 700, "memory", 500<<20, "nvidia.com/gpu", 1), Assigned: true}, &Admission{}
	step := 0
	if allocations := testing.AllocsPerRun(200, func() {
		change(tree, names[(step/2*7919)%len(names)], holding, admission, step)
		step++
	}); allocations != 0 {
		t.Errorf("%v allocations, want none", allocations)
	}
}
