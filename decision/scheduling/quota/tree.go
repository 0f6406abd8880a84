package quota

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// none stands in the place of a row.
const none = int32(-1)

// Tree is one tree of quotas with all that is asked and used in it. It must not be used by two goroutines at a time.
type Tree struct {
	options Options
	// keys are the resources that some quota of the tree limits or guarantees; column is their index.
	keys   []corev1.ResourceName
	column map[corev1.ResourceName]int
	// nodes are the quotas from the top down: children of one parent stand together, in order of their names. Row 0 is the
	// root; the default and the system quota come right after it.
	nodes []node
	row   map[string]int32
	// shares and sums hold one entry for each row and column: what sharing reads and writes, and the rest.
	shares []share
	sums   []sums
	// total by column.
	total []int64
	// borrowers is scratch space.
	borrowers []borrower
}

type node struct {
	spec   *Spec
	parent int32
	// first and count are the rows of the children.
	first, count int32
	depth        int32
	// outside quotas take no part in sharing: what they use is taken off the total.
	outside bool
	// stale is true when what the children got may have changed.
	stale bool
}

type share struct {
	// min is as it is given, floor what it counts for. guaranteed is at least min when usage is guaranteed, else 0.
	min, floor, guaranteed, weight int64
	// limited is the request, no more than max.
	limited int64
	runtime int64
}

type sums struct {
	// max is -1 where the quota does not limit the resource.
	max int64
	// minSet is true where the quota's min names the resource.
	minSet bool
	// childRequest adds up the limited requests of the children and the requests of the quota's own pods; used and the
	// others all pods below.
	childRequest, used, nonPreemptibleRequest, nonPreemptibleUsed wide
	// allocated adds up what the children are guaranteed and what the quota's own pods use.
	allocated wide
}

// newTree lays out the quotas, whose parents are all among them or the root. Specs are in order of their names.
func newTree(options Options, specs []*Spec, parents map[*Spec]*Spec, outside []*Spec) *Tree {
	t := &Tree{options: options, row: make(map[string]int32, len(specs)+3), column: map[corev1.ResourceName]int{}}
	t.findKeys(specs)
	children := make(map[*Spec][]*Spec, len(specs)/4)
	for _, spec := range specs {
		children[parents[spec]] = append(children[parents[spec]], spec)
	}
	t.nodes = make([]node, 0, len(specs)+3)
	t.place(&Spec{Name: extension.RootQuotaName, IsParent: true}, none)
	for _, spec := range outside {
		t.nodes[t.place(spec, none)].outside = true
	}
	t.adopt(0, children[nil])
	for row := int32(len(outside)) + 1; int(row) < len(t.nodes); row++ {
		t.adopt(row, children[t.nodes[row].spec])
	}
	t.fillIn()
	return t
}

func (t *Tree) findKeys(specs []*Spec) {
	for _, spec := range specs {
		for _, amounts := range []Amounts{spec.Min, spec.Max} {
			for _, amount := range amounts {
				if _, known := t.column[amount.Resource]; !known {
					t.column[amount.Resource] = 0
					t.keys = append(t.keys, amount.Resource)
				}
			}
		}
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if _, known := t.column[name]; !known {
			t.keys = append(t.keys, name)
		}
	}
	slices.Sort(t.keys)
	for i, key := range t.keys {
		t.column[key] = i
	}
}

func (t *Tree) place(spec *Spec, parent int32) int32 {
	row, depth := int32(len(t.nodes)), int32(0)
	if parent != none {
		depth = t.nodes[parent].depth + 1
	}
	t.nodes = append(t.nodes, node{spec: spec, parent: parent, depth: depth})
	t.row[spec.Name] = row
	return row
}

func (t *Tree) adopt(row int32, children []*Spec) {
	t.nodes[row].first, t.nodes[row].count, t.nodes[row].stale = int32(len(t.nodes)), int32(len(children)), true
	for _, child := range children {
		t.place(child, row)
	}
}

// fillIn sets what comes from the specs. Quotas that do not lend ask for their min from the start.
func (t *Tree) fillIn() {
	width := len(t.keys)
	t.total = make([]int64, width)
	t.shares, t.sums = make([]share, len(t.nodes)*width), make([]sums, len(t.nodes)*width)
	for row := len(t.nodes) - 1; row >= 0; row-- {
		for column := range t.keys {
			t.fillCell(int32(row), column)
			t.requested(int32(row), column, 0)
			t.allocated(int32(row), column, 0)
		}
	}
}

// fillCell sets what one quota's spec says of one resource.
func (t *Tree) fillCell(row int32, column int) {
	spec, key, at := t.nodes[row].spec, t.keys[column], t.at(row, column)
	share, sums := &t.shares[at], &t.sums[at]
	share.min, sums.minSet = spec.Min.Get(key)
	limit, limited := spec.Max.Get(key)
	weight, weighted := spec.Weight.Get(key)
	switch {
	case !limited:
		sums.max, share.weight = -1, 0
	case weighted:
		sums.max, share.weight = limit, weight
	default:
		sums.max, share.weight = limit, limit
	}
	if t.nodes[row].outside {
		share.runtime = limitOr(sums.max)
	}
}

func limitOr(limit int64) int64 {
	if limit < 0 {
		return Unlimited
	}
	return limit
}

func (t *Tree) at(row int32, column int) int { return int(row)*len(t.keys) + column }

// Len counts the quotas, without the root.
func (t *Tree) Len() int { return len(t.nodes) - 1 }

// Spec of a quota of the tree, nil when there is none of that name.
func (t *Tree) Spec(name string) *Spec {
	if row, found := t.row[name]; found {
		return t.nodes[row].spec
	}
	return nil
}

// Ancestors are the names of the quotas above, nearest first, without the root.
func (t *Tree) Ancestors(name string) []string {
	var names []string
	row, found := t.row[name]
	for found && t.nodes[row].parent > 0 {
		row = t.nodes[row].parent
		names = append(names, t.nodes[row].spec.Name)
	}
	return names
}

// Quotas calls yield for every quota but the root, parents before children, until it returns false.
func (t *Tree) Quotas(yield func(*Spec) bool) {
	for row := 1; row < len(t.nodes); row++ {
		if !yield(t.nodes[row].spec) {
			return
		}
	}
}

// SetTotal says what there is to share. It bounds the weights on every level.
func (t *Tree) SetTotal(total Amounts) {
	changed := false
	for column, key := range t.keys {
		value, _ := total.Get(key)
		if t.total[column] != value {
			t.total[column], changed = value, true
		}
	}
	for row := range t.nodes {
		t.nodes[row].stale = t.nodes[row].stale || changed
	}
}

// Clone returns an independent copy.
func (t *Tree) Clone() *Tree {
	clone := *t
	clone.nodes, clone.shares, clone.sums = slices.Clone(t.nodes), slices.Clone(t.shares), slices.Clone(t.sums)
	clone.total, clone.borrowers = slices.Clone(t.total), nil
	return &clone
}

func compareNames(a, b *Spec) int { return strings.Compare(a.Name, b.Name) }
