package quota

import (
	"fmt"
	"maps"
	"slices"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// Forest is all quotas of a cluster: the default tree, whose ID is empty, and one tree for each other ID. It must not be
// used by two goroutines at a time.
type Forest struct {
	trees map[string]*Tree
	// home is the tree of each quota.
	home map[string]*Tree
	// totals of the trees that bring their own, and the part of them that is taken off the default tree.
	totals map[string]Amounts
	apart  Amounts
	// Problems found in the specs, in order of the quotas' names.
	Problems []Problem
}

// BuildForest arranges quotas in trees. Whatever they say, every quota has its place in exactly one tree: a quota whose parent is
// missing, in another tree, or below it, stands at the top of its tree, and this is reported. Nothing depends on the order
// of the specs. They must not be changed afterwards.
func BuildForest(options Options, specs []*Spec) *Forest {
	a := &arrangement{named: map[string]*Spec{}, parents: map[*Spec]*Spec{}, trees: map[*Spec]string{}}
	a.name(specs)
	a.link()
	a.assignTrees()
	f := &Forest{trees: map[string]*Tree{}, home: map[string]*Tree{}, totals: map[string]Amounts{}}
	members := map[string][]*Spec{"": nil}
	for _, spec := range a.ordered {
		id := a.trees[spec]
		members[id] = append(members[id], spec)
		if spec.TreeRoot && id != "" {
			f.addTotal(id, spec)
		}
	}
	for id, specs := range members {
		var outside []*Spec
		if id == "" {
			outside = []*Spec{a.builtIn(extension.DefaultQuotaName, options.DefaultMax), a.builtIn(extension.SystemQuotaName, options.SystemMax)}
		}
		tree := newTree(options, specs, a.parents, outside)
		tree.SetTotal(f.totals[id])
		f.trees[id] = tree
		for spec := range tree.Quotas {
			f.home[spec.Name] = tree
		}
	}
	a.checkSums()
	f.Problems = a.problems
	slices.SortStableFunc(f.Problems, func(x, y Problem) int { return compareNames(&Spec{Name: x.Quota}, &Spec{Name: y.Quota}) })
	return f
}

func (f *Forest) addTotal(id string, spec *Spec) {
	f.totals[id] = f.totals[id].Plus(spec.Total)
	if !spec.IgnoreDefaultTree {
		f.apart = f.apart.Plus(spec.Total)
	}
}

// SetTotal says what the nodes of the cluster have. The default tree shares it, less what other trees bring.
func (f *Forest) SetTotal(cluster Amounts) { f.trees[""].SetTotal(cluster.Minus(f.apart).positive()) }

func (a Amounts) positive() Amounts {
	for i := range a {
		a[i].Value = max(0, a[i].Value)
	}
	return a
}

// Tree of a quota, nil when there is none of that name. The root belongs to no tree.
func (f *Forest) Tree(quota string) *Tree { return f.home[quota] }

// TreeIDs in order.
func (f *Forest) TreeIDs() []string { return slices.Sorted(maps.Keys(f.trees)) }

// ByID returns a tree, nil when there is none.
func (f *Forest) ByID(id string) *Tree { return f.trees[id] }

// Clone returns an independent copy.
func (f *Forest) Clone() *Forest {
	clone := *f
	clone.trees, clone.home = make(map[string]*Tree, len(f.trees)), make(map[string]*Tree, len(f.home))
	copies := make(map[*Tree]*Tree, len(f.trees))
	for id, tree := range f.trees {
		clone.trees[id] = tree.Clone()
		copies[tree] = clone.trees[id]
	}
	for name, tree := range f.home {
		clone.home[name] = copies[tree]
	}
	return &clone
}

// arrangement finds each quota its place.
type arrangement struct {
	ordered  []*Spec
	named    map[string]*Spec
	builtIns []*Spec
	// parents of the quotas; those at the top of their tree have none.
	parents  map[*Spec]*Spec
	trees    map[*Spec]string
	problems []Problem
}

func (a *arrangement) report(code finding.Code, spec *Spec, format string, args ...any) {
	a.problems = append(a.problems, Problem{Code: code, Namespace: spec.Namespace, Quota: spec.Name, Message: fmt.Sprintf(format, args...)})
}

// name keeps the oldest quota of each name.
func (a *arrangement) name(specs []*Spec) {
	sorted := slices.Clone(specs)
	slices.SortFunc(sorted, func(x, y *Spec) int {
		if byName := compareNames(x, y); byName != 0 {
			return byName
		}
		return compareAge(x, y)
	})
	for _, spec := range sorted {
		if first, taken := a.named[spec.Name]; taken {
			a.report(finding.QuotaNameTaken, spec, "the quota in namespace %s does not count: the older one in namespace %s has the name", spec.Namespace, first.Namespace)
			continue
		}
		a.named[spec.Name] = spec
		if extension.IsBuiltInQuota(spec.Name) {
			a.builtIns = append(a.builtIns, spec)
		} else {
			a.ordered = append(a.ordered, spec)
		}
	}
}

// builtIn returns the object of that name, or one without min.
func (a *arrangement) builtIn(name string, limit Amounts) *Spec {
	spec := Spec{Name: name, Lends: true, Max: limit}
	for _, found := range a.builtIns {
		if found.Name == name {
			spec = *found
			spec.Min = nil
			if len(spec.Max) == 0 {
				spec.Max = limit
			}
		}
	}
	return &spec
}

// link finds the parents, and cuts the links of quotas that are their own ancestors.
func (a *arrangement) link() {
	for _, spec := range a.ordered {
		if spec.Parent == "" || spec.Parent == extension.RootQuotaName {
			continue
		}
		parent, found := a.named[spec.Parent]
		if !found || extension.IsBuiltInQuota(spec.Parent) {
			a.report(finding.QuotaParentMissing, spec, "there is no parent %q; the quota is at the top of its tree", spec.Parent)
			continue
		}
		a.parents[spec] = parent
	}
	for _, spec := range a.onCycles() {
		a.report(finding.QuotaCycle, spec, "parent %q is below the quota itself; the quota is at the top of its tree", spec.Parent)
		delete(a.parents, spec)
	}
}

// onCycles finds every quota that its own parents lead back to, each link being followed once.
func (a *arrangement) onCycles() []*Spec {
	var found []*Spec
	seen := make(map[*Spec]int, len(a.ordered)) // the walk that came by first
	for walk, start := range a.ordered {
		spec := start
		for spec != nil && seen[spec] == 0 {
			seen[spec] = walk + 1
			spec = a.parents[spec]
		}
		if spec == nil || seen[spec] != walk+1 {
			continue
		}
		for member := spec; ; {
			found = append(found, member)
			if member = a.parents[member]; member == spec {
				break
			}
		}
	}
	return found
}

// assignTrees gives every quota the tree it names, or that of its parent, and cuts links between trees.
func (a *arrangement) assignTrees() {
	for _, spec := range a.ordered {
		a.treeOf(spec)
	}
	for _, spec := range a.ordered {
		parent := a.parents[spec]
		if parent != nil && a.trees[parent] != a.trees[spec] {
			a.report(finding.QuotaParentMissing, spec, "parent %q is in tree %q, the quota in tree %q; the quota is at the top of its tree", spec.Parent, a.trees[parent], a.trees[spec])
			delete(a.parents, spec)
		}
	}
}

func (a *arrangement) treeOf(spec *Spec) string {
	var path []*Spec
	id := ""
	for ; spec != nil; spec = a.parents[spec] {
		if known, done := a.trees[spec]; done {
			id = known
			break
		}
		path = append(path, spec)
		if spec.TreeID != "" {
			id = spec.TreeID
			break
		}
	}
	for _, member := range path {
		a.trees[member] = id
	}
	return id
}

// Adjust takes over new numbers of a quota: min, max, weight, and whether it lends. It reports false, and changes nothing,
// when more than that differs, or a resource is new to the tree; then the forest has to be built again.
func (f *Forest) Adjust(spec *Spec) bool {
	tree := f.home[spec.Name]
	return tree != nil && tree.adjust(spec)
}
