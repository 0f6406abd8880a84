package configmerge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/finding"
)

// sectionParser reads the text of one key and collects everything that is wrong with it.
type sectionParser struct {
	section  section
	doc      *document
	problems []Problem
	// wrong are the paths that have a problem.
	wrong wrongPaths
}

// nodeProfile is the part of a node entry that is not strategy.
type nodeProfile struct {
	Name         string                `json:"name,omitempty"`
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
}

// parseSection merges one key's text over the built-in default. When there are problems, the result omits the wrong values
// and serves only to find more problems; it is nil for a text that cannot be parsed.
func parseSection(s section, text string) (*layered, []Problem) {
	if len(text) > configuration.MaxConfigBytes {
		message := fmt.Sprintf("%d bytes exceed the limit of %d", len(text), configuration.MaxConfigBytes)
		return nil, []Problem{{Code: finding.ConfigMalformed, Key: s.key, Message: message}}
	}
	p := &sectionParser{section: s}
	doc, err := parseDocument(text)
	if err != nil {
		problem := Problem{Code: finding.ConfigMalformed, Key: s.key, Message: "is not valid JSON: " + err.Error()}
		if syntax, ok := errors.AsType[*syntaxError](err); ok {
			problem.Line, problem.Column = position(text, syntax.offset)
		}
		return nil, []Problem{problem}
	}
	p.doc = doc
	result := p.merge()
	sortByPlace(p.problems)
	if result != nil {
		result.text = text
	}
	return result, p.problems
}

// sortByPlace orders problems as they stand in the text: checks visit the keys of an object in no order.
func sortByPlace(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code))
	})
}

func (p *sectionParser) merge() *layered {
	root, ok := p.doc.root.(map[string]any)
	if !ok && p.doc.root != nil {
		p.malformed("", "must be an object, is "+describe(p.doc.root))
		return nil
	}
	cluster, clusterPath := p.clusterStrategy(root)
	p.check(cluster, clusterPath)
	entries := p.nodeEntries(root)
	// Values that are wrong by themselves are left out of the merge, so that it finds values that are wrong in combination: all
	// problems are reported at once.
	p.wrong = newWrongPaths(p.problems)
	result := &layered{base: builtIn(p.section).base.clone()}
	p.addLayer(result.base, LayerCluster, cluster, clusterPath)
	for i, values := range entries {
		path := indexPath(joinPath("", p.section.nodesField), i)
		result.entries = append(result.entries, p.nodeEntry(result.base, i, values, path))
	}
	return result
}

// clusterStrategy finds the cluster's values and where they stand.
func (p *sectionParser) clusterStrategy(root map[string]any) (map[string]any, string) {
	if p.section.clusterField == "" {
		values := make(map[string]any, len(root))
		for key, value := range root {
			if key != p.section.nodesField {
				values[key] = value
			}
		}
		return values, ""
	}
	value := root[p.section.clusterField]
	values, ok := value.(map[string]any)
	if !ok && value != nil {
		p.malformed(p.section.clusterField, "must be an object, is "+describe(value))
	}
	return values, p.section.clusterField
}

func (p *sectionParser) nodeEntries(root map[string]any) []map[string]any {
	value := root[p.section.nodesField]
	array, ok := value.([]any)
	if !ok && value != nil {
		p.malformed(p.section.nodesField, "must be an array, is "+describe(value))
	}
	entries := make([]map[string]any, 0, len(array))
	for i, item := range array {
		path := indexPath(p.section.nodesField, i)
		object, ok := item.(map[string]any)
		if !ok {
			p.malformed(path, "must be an object, is "+describe(item))
			entries = append(entries, nil)
			continue
		}
		checkType(object, reflect.TypeFor[nodeProfile](), path, p.malformed)
		p.check(object, path)
		entries = append(entries, object)
	}
	return entries
}

// check reports wrong types and values out of range in one strategy.
func (p *sectionParser) check(values map[string]any, path string) {
	checkType(values, p.section.strategy, path, p.malformed)
	strategy := values
	if _, hasSelector := values["nodeSelector"]; hasSelector {
		strategy = make(map[string]any, len(values))
		for key, value := range values {
			if key != "nodeSelector" && key != "name" {
				strategy[key] = value
			}
		}
	}
	checkBounds(strategy, p.section.bounds, path, p.report)
}

func (p *sectionParser) nodeEntry(base overlay, index int, values map[string]any, path string) nodeEntry {
	var profile nodeProfile
	values = p.wrong.without(values, path)
	entry := nodeEntry{selector: labels.Nothing()}
	encoded, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(encoded, &profile)
	}
	if err != nil {
		p.malformed(path, err.Error())
		return entry
	}
	entry.layer = strategyLayer(profile.Name, index)
	if entry.selector, err = metav1.LabelSelectorAsSelector(profile.NodeSelector); err != nil {
		p.malformed(joinPath(path, "nodeSelector"), err.Error())
		entry.selector = labels.Nothing()
	}
	entry.merged = base.clone()
	p.addLayer(entry.merged, entry.layer, values, path)
	return entry
}

// addLayer merges a checked strategy and looks at what comes out.
func (p *sectionParser) addLayer(into overlay, layer string, values map[string]any, path string) {
	normalized, err := normalize(p.wrong.without(values, path), p.section.strategy)
	if err != nil {
		p.malformed(path, err.Error())
		return
	}
	into.add(layer, normalized)
	p.wrong.forget(into.values, path)
	checkOrders(into, normalized, p.section.orders, path, p.outOfRange)
	checkNetwork(p.section.key, into, normalized, path, p.outOfRange)
}

func (p *sectionParser) malformed(path, message string) {
	p.report(finding.ConfigMalformed, path, message)
}

func (p *sectionParser) outOfRange(path, message string) {
	p.report(finding.ConfigOutOfRange, path, message)
}

func (p *sectionParser) report(code finding.Code, path, message string) {
	problem := Problem{Code: code, Key: p.section.key, Path: path, Message: message}
	if p.doc != nil {
		if start, ok := p.doc.starts[path]; ok {
			problem.Line, problem.Column = position(p.doc.text, start)
		}
	}
	p.problems = append(p.problems, problem)
}
