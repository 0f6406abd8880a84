package configuration

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/configmerge"
)

// strategies looks at the node strategies of each key: which overlap, and which select nothing.
func (v *validation) strategies() {
	for _, key := range configuration.Keys() {
		groups := v.config.Groups(key)
		if v.unreadable[key] || len(groups) < 2 {
			continue
		}
		if len(v.in.Nodes) == 0 {
			v.overlapsBySelector(key, groups)
			continue
		}
		v.overlapsByNode(key, groups)
	}
}

// overlapsByNode reports what the nodes show. Strategies that select the same node are an error: which of them was meant is not
// known.
func (v *validation) overlapsByNode(key string, groups []configmerge.Group) {
	type pair struct{ first, second int }
	nodes := map[pair][]string{}
	effective, selected := make([]int, len(groups)), make([]int, len(groups))
	for _, node := range v.in.Nodes {
		index, others := v.config.GroupOf(key, node)
		effective[index]++
		selected[index]++
		for _, other := range others {
			selected[other]++
			nodes[pair{index, other}] = append(nodes[pair{index, other}], node.Name)
		}
	}
	for i := range len(groups) - 1 {
		for j := i + 1; j < len(groups)-1; j++ {
			if hit := nodes[pair{i, j}]; len(hit) > 0 {
				v.overlap(key, groups[i], groups[j], fmt.Sprintf("%s and %s both select %s; the first one wins", groups[i].Layer, groups[j].Layer, some(hit, "node")),
					len(hit), diagnosticsv1alpha1.SeverityError)
			}
		}
		v.unmatched(key, groups[i], effective[i], selected[i])
	}
}

func (v *validation) unmatched(key string, group configmerge.Group, effective, selected int) {
	if effective > 0 {
		return
	}
	message := fmt.Sprintf("%s selects none of %d nodes", group.Layer, len(v.in.Nodes))
	if selected > 0 {
		message = fmt.Sprintf("%s has no effect: earlier strategies apply to all of its %d nodes", group.Layer, selected)
	}
	v.add(Finding{Code: finding.ConfigUnmatched, Key: key, Path: group.Path, Layers: []string{group.Layer}, Message: message,
		Evidence: v.selectorEvidence(key, group)})
}

// overlapsBySelector reports what the selectors alone show: those that are the same, and those that an earlier one, which
// selects every node, leaves nothing to. Without a node to show it on it is a warning.
func (v *validation) overlapsBySelector(key string, groups []configmerge.Group) {
	for i, group := range groups[:len(groups)-1] {
		if _, selectable := group.Selector.Requirements(); !selectable {
			v.add(Finding{Code: finding.ConfigUnmatched, Key: key, Path: group.Path, Layers: []string{group.Layer},
				Message: group.Layer + " has no nodeSelector and selects no node", Evidence: v.selectorEvidence(key, group)})
			continue
		}
		for _, earlier := range groups[:i] {
			if selectsAll(earlier.Selector) || implies(group.Selector, earlier.Selector) {
				v.overlap(key, earlier, group, fmt.Sprintf("%s selects every node that %s selects, and comes before it", earlier.Layer, group.Layer),
					0, diagnosticsv1alpha1.SeverityWarning)
			}
		}
	}
}

// selectsAll is true for the selector of every node.
func selectsAll(selector labels.Selector) bool { return selector.Empty() }

// implies says whether every node that the first selector selects is selected by the second: it asks for all the second
// asks for.
func implies(first, second labels.Selector) bool {
	asked, selectable := first.Requirements()
	wanted, alsoSelectable := second.Requirements()
	if !selectable || !alsoSelectable || len(wanted) == 0 {
		return false
	}
	has := map[string]bool{}
	for _, requirement := range asked {
		has[requirement.String()] = true
	}
	for _, requirement := range wanted {
		if !has[requirement.String()] {
			return false
		}
	}
	return true
}

func (v *validation) overlap(key string, first, second configmerge.Group, message string, nodes int, severity diagnosticsv1alpha1.Severity) {
	v.add(Finding{
		Code: finding.ConfigOverlap, Severity: severity, Key: key, Path: second.Path, Layers: []string{first.Layer, second.Layer}, Nodes: nodes, Message: message,
		Evidence: append(v.selectorEvidence(key, first), v.selectorEvidence(key, second)...),
	})
}

func (v *validation) selectorEvidence(key string, group configmerge.Group) []Evidence {
	path := configmerge.JoinPath(group.Path, "nodeSelector")
	value := group.Selector.String()
	if value == "" {
		value = "unset"
		if selectsAll(group.Selector) {
			value = "{}"
		}
	}
	return []Evidence{{Key: key, Path: path, Value: value, Layer: group.Layer, Line: v.places[key][path].Line}}
}

// duplicates reports node strategies of one key with the same name: what refers to a strategy by name means the first.
func (v *validation) duplicates() {
	for _, key := range configuration.Keys() {
		groups := v.config.Groups(key)
		first := map[string]configmerge.Group{}
		for _, group := range groups[:len(groups)-1] {
			before, twice := first[group.Layer]
			if !twice {
				first[group.Layer] = group
				continue
			}
			path := configmerge.JoinPath(group.Path, "name")
			v.add(Finding{
				Code: finding.ConfigDuplicate, Key: key, Path: path, Layers: []string{group.Layer},
				Message: fmt.Sprintf("%s and %s have the same name", before.Path, group.Path),
				Evidence: []Evidence{
					{Key: key, Path: configmerge.JoinPath(before.Path, "name"), Value: group.Layer, Line: v.places[key][configmerge.JoinPath(before.Path, "name")].Line},
					{Key: key, Path: path, Value: group.Layer, Line: v.places[key][path].Line},
				},
			})
		}
	}
}

// some names the first few of many.
func some(names []string, what string) string {
	const shown = 3
	if len(names) <= shown {
		return what + plural(len(names)) + " " + strings.Join(names, ", ")
	}
	return strconv.Itoa(len(names)) + " " + what + "s, such as " + strings.Join(names[:shown], ", ")
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
