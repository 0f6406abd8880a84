package quotaadmission

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// world is a plain list of quotas, walked whenever something is asked of it.
type world []*Quota

func (w world) named(name string) *Quota {
	var found *Quota
	for _, q := range w {
		if q.Name == name && (found == nil || older(q, found) < 0) {
			found = q
		}
	}
	return found
}

func (w world) counting() world {
	var out world
	for _, q := range w {
		if w.named(q.Name) == q {
			out = append(out, q)
		}
	}
	return out
}

func (w world) childrenOf(name string) world {
	var out world
	for _, q := range w.counting() {
		if q.Parent == name && !q.builtIn() {
			out = append(out, q)
		}
	}
	return out
}

func milli(list corev1.ResourceList, name corev1.ResourceName) int64 {
	quantity := list[name]
	return quantity.MilliValue()
}

// creation is every code for which the creation of a quota is refused, by definition of the rules.
func (w world) creation(q *Quota) map[finding.Code]bool {
	out := map[finding.Code]bool{}
	others := slices.DeleteFunc(w.counting(), func(o *Quota) bool { return o.Name == q.Name })
	for name, least := range q.Min {
		most, limited := q.Max[name]
		out[finding.QuotaKeysMismatch] = out[finding.QuotaKeysMismatch] || !limited
		out[finding.QuotaInvalid] = out[finding.QuotaInvalid] || limited && least.Cmp(most) > 0
	}
	if taken := w.named(q.Name); taken != nil && taken.Namespace != q.Namespace {
		out[finding.QuotaNameTaken] = true
	}
	out[finding.QuotaParentNamespaces] = q.IsParent && len(q.Namespaces) > 0
	children := w.childrenOf(q.Name)
	out[finding.QuotaHasChildren] = !q.IsParent && len(children) > 0
	for _, o := range others {
		for _, namespace := range q.Namespaces {
			out[finding.QuotaNamespaceTaken] = out[finding.QuotaNamespaceTaken] || slices.Contains(o.Namespaces, namespace)
		}
	}
	for _, child := range children {
		out[finding.QuotaTreeMismatch] = out[finding.QuotaTreeMismatch] || child.TreeID != q.TreeID
	}
	parent := w.named(q.Parent)
	if parent != nil && parent.TreeID != q.TreeID {
		out[finding.QuotaTreeMismatch] = true
	}
	top := q.Parent == extension.RootQuotaName
	switch {
	case top && !q.IsParent:
		return out
	case !top && parent == nil:
		out[finding.QuotaParentMissing] = true
		return out
	case !top && !parent.IsParent:
		out[finding.QuotaParentUnfit] = true
		return out
	}
	for above, steps := parent, 0; above != nil && steps < len(w); above, steps = w.named(above.Parent), steps+1 {
		if above.Name == q.Name {
			out[finding.QuotaCycle] = true
			return out
		}
	}
	mismatch, over := out[finding.QuotaKeysMismatch], false
	for _, name := range []corev1.ResourceName{"cpu", "memory"} {
		has := func(list corev1.ResourceList) bool { _, found := list[name]; return found }
		sum := int64(0)
		for _, child := range children {
			mismatch = mismatch || has(child.Max) != has(q.Max) || has(child.Min) && !has(q.Min)
			sum += milli(child.Min, name)
		}
		over = over || sum > milli(q.Min, name)
		if top {
			continue
		}
		mismatch = mismatch || has(parent.Max) != has(q.Max) || has(q.Min) && !has(parent.Min)
		sum = milli(q.Min, name)
		for _, sibling := range w.childrenOf(parent.Name) {
			if sibling.Name != q.Name {
				sum += milli(sibling.Min, name)
			}
		}
		over = over || sum > milli(parent.Min, name) && milli(q.Min, name) > 0
	}
	out[finding.QuotaKeysMismatch] = mismatch
	out[finding.QuotaMinOvercommitted] = over && !q.Forced && !q.TreeRoot
	return out
}

func drawList(t *rapid.T, label string, most int) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{"cpu", "memory"} {
		if rapid.IntRange(0, 3).Draw(t, label+"-has") > 0 {
			list[name] = *resource.NewMilliQuantity(int64(rapid.IntRange(0, most).Draw(t, label))*500, resource.DecimalSI)
		}
	}
	return list
}

func drawQuota(t *rapid.T) *Quota {
	names := []string{"a", "b", "c", "d", "e"}
	return &Quota{
		Namespace: rapid.SampledFrom([]string{"x", "x", "x", "y"}).Draw(t, "namespace"), Name: rapid.SampledFrom(names).Draw(t, "name"),
		Parent: rapid.SampledFrom(append(names, extension.RootQuotaName)).Draw(t, "parent"), TreeID: rapid.SampledFrom([]string{"", "", "", "7"}).Draw(t, "tree"),
		IsParent: rapid.IntRange(0, 2).Draw(t, "isParent") > 0, TreeRoot: rapid.IntRange(0, 5).Draw(t, "root") == 0, Forced: rapid.IntRange(0, 5).Draw(t, "forced") == 0,
		Created: int64(rapid.IntRange(0, 2).Draw(t, "created")),
		Min:     drawList(t, "min", 6), Max: drawList(t, "max", 12),
		Namespaces: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"n", "m", "o"}), 0, 1, rapid.ID).Draw(t, "namespaces"),
	}
}

// drawWorld puts quotas into an index in any order, replacing and removing some on the way.
func drawWorld(t *rapid.T) (world, *Index) {
	var w world
	x := NewIndex()
	drop := func(namespace, name string) {
		w = slices.DeleteFunc(w, func(q *Quota) bool { return q.Namespace == namespace && q.Name == name })
	}
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		q := drawQuota(t)
		drop(q.Namespace, q.Name)
		if rapid.IntRange(0, 4).Draw(t, "remove") == 0 {
			x.Remove(q.Namespace, q.Name)
			continue
		}
		w = append(w, q)
		x.Set(q)
	}
	return w, x
}

func TestCreationIsRefusedByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, x := drawWorld(t)
		q := drawQuota(t)
		if slices.ContainsFunc(w, func(o *Quota) bool { return o.Namespace == q.Namespace && o.Name == q.Name }) {
			return
		}
		got := map[finding.Code]bool{}
		for _, code := range refusals(Validate(Input{Quota: q, Quotas: x})) {
			got[code] = true
		}
		want := w.creation(q)
		for code, refused := range want {
			if !refused {
				delete(want, code)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("codes (-definition +verdict):\n%s", diff)
		}
	})
}

// TestTheIndexIsThatOfWhatIsThere: the way to a state leaves no trace in it.
func TestTheIndexIsThatOfWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, x := drawWorld(t)
		fresh := indexOf(w...)
		options := []cmp.Option{cmp.AllowUnexported(Index{}, below{}, sum{}), cmpopts.EquateEmpty(), cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })}
		if diff := cmp.Diff(fresh, x, options...); diff != "" {
			t.Fatalf("index (-fresh +kept):\n%s", diff)
		}
	})
}

// TestAdmittedQuotasKeepTheRules: whatever is asked, a tree that admission alone has formed is sound.
func TestAdmittedQuotasKeepTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := NewIndex()
		var w world
		for range rapid.IntRange(1, 25).Draw(t, "requests") {
			q := drawQuota(t)
			q.Forced, q.TreeRoot, q.Namespace = false, false, "x"
			old := x.Get(q.Name)
			switch {
			case old != nil && rapid.IntRange(0, 5).Draw(t, "delete") == 0:
				if verdict := Validate(Input{Old: old, Quotas: x}); !verdict.Refused() {
					x.Remove(old.Namespace, old.Name)
				}
			default:
				if old != nil {
					q.Created = old.Created
				}
				if verdict := Validate(Input{Quota: q, Old: old, Quotas: x}); !verdict.Refused() {
					x.Set(q)
				}
			}
			w = w[:0]
			for _, same := range x.named {
				w = append(w, same...)
			}
			if problem := w.unsound(); problem != "" {
				t.Fatal(problem)
			}
		}
	})
}

// unsound says what is wrong with a tree; "" for nothing.
func (w world) unsound() string {
	for _, q := range w {
		for name, least := range q.Min {
			if most, limited := q.Max[name]; !limited || least.Cmp(most) > 0 {
				return fmt.Sprintf("min of %s exceeds max: %+v", q.Name, q)
			}
		}
		children := w.childrenOf(q.Name)
		if len(children) > 0 && !q.IsParent {
			return q.Name + " has children and is no parent"
		}
		for _, name := range []corev1.ResourceName{"cpu", "memory"} {
			sum := int64(0)
			for _, child := range children {
				sum += milli(child.Min, name)
			}
			if sum > milli(q.Min, name) {
				return fmt.Sprintf("children of %s have %d of %s, it has %d", q.Name, sum, name, milli(q.Min, name))
			}
		}
		if parent := w.named(q.Parent); q.Parent != extension.RootQuotaName && (parent == nil || parent.TreeID != q.TreeID) {
			return q.Name + " has no parent in its tree"
		}
		above := q
		for range len(w) + 1 {
			if above = w.named(above.Parent); above == nil {
				break
			}
		}
		if above != nil {
			return q.Name + " is on a cycle"
		}
	}
	return ""
}
