package quota

import "slices"

// adjust is Forest.Adjust for the tree of the quota.
func (t *Tree) adjust(spec *Spec) bool {
	row, found := t.row[spec.Name]
	if !found || t.nodes[row].parent == none || !t.nodes[row].spec.samePlace(spec) || !t.knows(spec.Min) || !t.knows(spec.Max) {
		return false
	}
	t.nodes[row].spec = spec
	t.nodes[t.nodes[row].parent].stale = true
	for column := range t.keys {
		t.fillCell(row, column)
		t.requested(row, column, 0)
		t.allocated(row, column, 0)
	}
	return true
}

// samePlace is true when two specs of a quota give it the same place in the forest.
func (s *Spec) samePlace(other *Spec) bool {
	return s.Namespace == other.Namespace && s.Parent == other.Parent && s.TreeID == other.TreeID && s.TreeRoot == other.TreeRoot &&
		s.IgnoreDefaultTree == other.IgnoreDefaultTree && slices.Equal(s.Total, other.Total) && slices.Equal(s.Namespaces, other.Namespaces)
}

func (t *Tree) knows(amounts Amounts) bool {
	return !slices.ContainsFunc(amounts, func(a Amount) bool { _, known := t.column[a.Resource]; return !known })
}
