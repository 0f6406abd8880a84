package quotaadmission

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Index is what is known of all quotas, kept up to date one quota at a time. It must not be used by two goroutines at a time
// unless all of them only read.
type Index struct {
	// named are the quotas of each name, the one that counts first.
	named map[string][]*Quota
	// below is what is below each parent, by its name, whether it exists or not.
	below map[string]*below
	// tops are what is at the top of each tree, by its ID, and roots the roots of trees that say what the tree has.
	tops  map[string]map[corev1.ResourceName]*sum
	roots map[string]*Quota
	// claims are the names of the quotas that list a namespace.
	claims map[string]map[string]struct{}
}

// below sums up the children of one quota.
type below struct {
	names map[string]struct{}
	min   map[corev1.ResourceName]*sum
	// maxKeys and trees count the children by the resources they limit and by their tree.
	maxKeys, trees map[string]int
}

// sum is the exact sum of a resource over a number of children.
type sum struct {
	total resource.Quantity
	count int
}

// NewIndex returns an index without quotas.
func NewIndex() *Index {
	return &Index{named: map[string][]*Quota{}, below: map[string]*below{}, claims: map[string]map[string]struct{}{},
		tops: map[string]map[corev1.ResourceName]*sum{}, roots: map[string]*Quota{}}
}

// Get returns the quota of a name that counts, nil when there is none.
func (x *Index) Get(name string) *Quota {
	if same := x.named[name]; len(same) > 0 {
		return same[0]
	}
	return nil
}

// Len is the number of names.
func (x *Index) Len() int { return len(x.named) }

// Set adds a quota, or replaces the one of its namespace and name.
func (x *Index) Set(quota *Quota) {
	x.change(quota.Name, func(same []*Quota) []*Quota {
		same = slices.DeleteFunc(same, func(q *Quota) bool { return q.Namespace == quota.Namespace })
		same = append(same, quota)
		slices.SortFunc(same, older)
		return same
	})
}

// Remove takes a quota out; it does nothing when there is none.
func (x *Index) Remove(namespace, name string) {
	x.change(name, func(same []*Quota) []*Quota {
		return slices.DeleteFunc(same, func(q *Quota) bool { return q.Namespace == namespace })
	})
}

func (x *Index) change(name string, edit func([]*Quota) []*Quota) {
	before := x.Get(name)
	if same := edit(x.named[name]); len(same) > 0 {
		x.named[name] = same
	} else {
		delete(x.named, name)
	}
	after := x.Get(name)
	if before == after {
		return
	}
	if before != nil {
		x.unlink(before)
	}
	if after != nil {
		x.link(after)
	}
}

func (x *Index) link(q *Quota) {
	for _, namespace := range q.Namespaces {
		if x.claims[namespace] == nil {
			x.claims[namespace] = map[string]struct{}{}
		}
		x.claims[namespace][q.Name] = struct{}{}
	}
	if q.builtIn() {
		return
	}
	b := x.below[q.Parent]
	if b == nil {
		b = &below{names: map[string]struct{}{}, min: map[corev1.ResourceName]*sum{}, maxKeys: map[string]int{}, trees: map[string]int{}}
		x.below[q.Parent] = b
	}
	b.names[q.Name] = struct{}{}
	b.maxKeys[signature(q.Max)]++
	b.trees[q.TreeID]++
	addMin(b.min, q.Min)
	if q.belowRoot() {
		if x.tops[q.TreeID] == nil && len(q.Min) > 0 {
			x.tops[q.TreeID] = map[corev1.ResourceName]*sum{}
		}
		addMin(x.tops[q.TreeID], q.Min)
	}
	if q.rootsTree() {
		x.roots[q.Name] = q
	}
}

func addMin(sums map[corev1.ResourceName]*sum, least corev1.ResourceList) {
	for name, quantity := range least {
		total := sums[name]
		if total == nil {
			total = &sum{}
			sums[name] = total
		}
		total.total.Add(quantity)
		total.count++
	}
}

func subtractMin(sums map[corev1.ResourceName]*sum, least corev1.ResourceList) {
	for name, quantity := range least {
		total := sums[name]
		if total.count--; total.count == 0 {
			delete(sums, name)
			continue
		}
		total.total.Sub(quantity)
	}
}

func (x *Index) unlink(q *Quota) {
	for _, namespace := range q.Namespaces {
		if delete(x.claims[namespace], q.Name); len(x.claims[namespace]) == 0 {
			delete(x.claims, namespace)
		}
	}
	if q.builtIn() {
		return
	}
	if q.belowRoot() {
		if subtractMin(x.tops[q.TreeID], q.Min); len(x.tops[q.TreeID]) == 0 {
			delete(x.tops, q.TreeID)
		}
	}
	delete(x.roots, q.Name)
	b := x.below[q.Parent]
	if delete(b.names, q.Name); len(b.names) == 0 {
		delete(x.below, q.Parent)
		return
	}
	decrement(b.maxKeys, signature(q.Max))
	decrement(b.trees, q.TreeID)
	subtractMin(b.min, q.Min)
}

func decrement(counts map[string]int, key string) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}

// signature is equal for lists with the same resources, whatever their amounts.
func signature(list corev1.ResourceList) string {
	var b strings.Builder
	for _, name := range keys(list) {
		b.WriteString(string(name))
		b.WriteByte(',')
	}
	return b.String()
}

// children is the number of quotas below a name, and one of them.
func (x *Index) children(name string) (count int, example string) {
	b := x.below[name]
	if b == nil {
		return 0, ""
	}
	for child := range b.names {
		if example == "" || child < example {
			example = child
		}
	}
	return len(b.names), example
}

// minBelow is what the children of a quota are guaranteed together, leaving one of them out.
func (x *Index) minBelow(parent, except string) corev1.ResourceList {
	b := x.below[parent]
	if b == nil {
		return nil
	}
	totals := make(corev1.ResourceList, len(b.min))
	for name, total := range b.min {
		totals[name] = total.total.DeepCopy()
	}
	if _, found := b.names[except]; found {
		for name, quantity := range x.Get(except).Min {
			rest := totals[name]
			rest.Sub(quantity)
			totals[name] = rest
		}
	}
	return totals
}
