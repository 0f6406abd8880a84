package configmerge

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

var colocationType = reflect.TypeFor[configuration.ColocationStrategy]()

// Merged is the co-location strategy in force on one node.
type Merged struct {
	// Strategy with every layer applied. It may be shared between nodes: do not modify what its pointers lead to.
	Strategy configuration.ColocationStrategy
	// Settings lists every value with the layer it came from, ordered by key.
	Settings []diagnosticsv1alpha1.Setting
	// Problems of the key, and of the node's own annotation and labels. A layer with a problem is left out.
	Problems []Problem
}

// Colocation is the strategy in force on a node: built-in default, cluster, the first node strategy whose selector matches,
// the node's annotation colocation-strategy, and its ratio labels, which are fractions and count hundredfold.
func (c Config) Colocation(node *corev1.Node) Merged {
	section := c.sections[configuration.ColocationConfigKey]
	index, others := section.match(node)
	chosen := section.rendered[index]
	out := Merged{Settings: chosen.settings, Problems: c.problemsOf(configuration.ColocationConfigKey)}
	if strategy, ok := chosen.strategy.(*configuration.ColocationStrategy); ok {
		out.Strategy = *strategy
	}
	if len(others) > 0 {
		out.Problems = append(out.Problems, overlap(configuration.ColocationConfigKey, section.entries[index].layer, others, node.Name))
	}
	annotation, problems := annotationLayer(node)
	out.Problems = append(out.Problems, problems...)
	ratios, problems := labelLayer(node)
	out.Problems = append(out.Problems, problems...)
	if len(annotation) == 0 && len(ratios) == 0 {
		return out
	}
	merged := section.overlayAt(index).clone()
	merged.add(LayerNodeAnnotation, annotation)
	merged.add(LayerNodeLabel, ratios)
	out.Settings = merged.settings()
	out.Strategy = configuration.ColocationStrategy{}
	if err := merged.decode(&out.Strategy); err != nil {
		out.Problems = append(out.Problems, nodeProblem(finding.ConfigMalformed, node, extension.AnnotationNodeColocationStrategy, err.Error()))
	}
	return out
}

// problemsOf lists the problems of one key and those of the configuration as a whole.
func (c Config) problemsOf(key string) []Problem {
	var out []Problem
	for _, problem := range c.problems {
		if problem.Key == key || problem.Code == finding.ConfigMissing {
			out = append(out, problem)
		}
	}
	return out
}

func overlap(key, winner string, others []string, node string) Problem {
	return Problem{
		Code: finding.ConfigOverlap, Key: key, Node: node,
		Message: fmt.Sprintf("node %q matches %s and also %s; the first one wins", node, winner, joinNames(others)),
	}
}

func joinNames(names []string) string {
	const shown = 3
	out := ""
	for i, name := range names {
		if i == shown {
			return out + fmt.Sprintf(" and %d more", len(names)-shown)
		}
		if i > 0 {
			out += ", "
		}
		out += name
	}
	return out
}

// annotationLayer reads the node's own strategy. With any problem the layer is empty.
func annotationLayer(node *corev1.Node) (map[string]any, []Problem) {
	const key = extension.AnnotationNodeColocationStrategy
	text := node.Annotations[key]
	if text == "" {
		return nil, nil
	}
	doc, err := parseDocument(text)
	if err != nil {
		return nil, []Problem{nodeProblem(finding.ConfigMalformed, node, key, "is not valid JSON: "+err.Error())}
	}
	values, ok := doc.root.(map[string]any)
	if !ok {
		return nil, []Problem{nodeProblem(finding.ConfigMalformed, node, key, "must be an object, is "+describe(doc.root))}
	}
	var problems []Problem
	reportAs := func(code finding.Code) reporter {
		return func(path, message string) {
			problem := nodeProblem(code, node, key, message)
			problem.Path = path
			problem.Line, problem.Column = position(text, doc.starts[path])
			problems = append(problems, problem)
		}
	}
	checkType(values, colocationType, "", reportAs(finding.ConfigMalformed))
	checkBounds(values, colocationBounds, "", func(code finding.Code, path, message string) { reportAs(code)(path, message) })
	if len(problems) > 0 {
		sortByPlace(problems)
		return nil, problems
	}
	normalized, err := normalize(values, colocationType)
	if err != nil {
		return nil, []Problem{nodeProblem(finding.ConfigMalformed, node, key, err.Error())}
	}
	return normalized, nil
}

// ratioLabels maps the node labels that hold a fraction to the percentage they set.
var ratioLabels = []struct{ label, field string }{
	{extension.LabelCPUReclaimRatio, "cpuReclaimThresholdPercent"},
	{extension.LabelMemoryReclaimRatio, "memoryReclaimThresholdPercent"},
	{extension.LabelMidStaticCPUReservedRatio, "midStaticCPUReservedPercent"},
	{extension.LabelMidStaticMemoryReservedRatio, "midStaticMemoryReservedPercent"},
}

// labelLayer reads the node's ratio labels. A label that is not a fraction in range is left out and reported.
func labelLayer(node *corev1.Node) (map[string]any, []Problem) {
	var values map[string]any
	var problems []Problem
	for _, ratio := range ratioLabels {
		percent, err := extension.NodeRatioPercent(node.Labels, ratio.label)
		if err != nil {
			problems = append(problems, nodeProblem(finding.ConfigOutOfRange, node, ratio.label, err.Error()))
		}
		if err != nil || percent == nil {
			continue
		}
		layer := map[string]any{ratio.field: json.Number(strconv.FormatInt(*percent, 10))}
		rejected := false
		checkBounds(layer, colocationBounds, "", func(_ finding.Code, _, message string) {
			rejected = true
			problems = append(problems, nodeProblem(finding.ConfigOutOfRange, node, ratio.label, "in percent "+message))
		})
		if rejected {
			continue
		}
		if values == nil {
			values = map[string]any{}
		}
		values[ratio.field] = layer[ratio.field]
	}
	return values, problems
}

func nodeProblem(code finding.Code, node *corev1.Node, key, message string) Problem {
	return Problem{Code: code, Key: key, Node: node.Name, Message: message}
}
