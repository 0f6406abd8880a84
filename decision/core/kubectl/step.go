package kubectl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Remove is the value, in Label and Annotate, of a key that is removed.
var Remove *string

// Value is the value of a key that is set.
func Value(text string) *string { return &text }

// Label sets and removes labels of an object.
func Label(o Object, values map[string]*string) diagnosticsv1alpha1.FixStep {
	return o.mark("label", "labels", values)
}

// Annotate sets and removes annotations of an object.
func Annotate(o Object, values map[string]*string) diagnosticsv1alpha1.FixStep {
	return o.mark("annotate", "annotations", values)
}

func (o Object) mark(verb, field string, values map[string]*string) diagnosticsv1alpha1.FixStep {
	words := o.words(verb)
	if slices.ContainsFunc(slices.Collect(maps.Values(values)), func(value *string) bool { return value != Remove }) {
		words = append(words, "--overwrite")
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch value := values[key]; {
		case value == Remove:
			words = append(words, key+"-")
		case field == "labels": // nothing that a shell would read differently is valid in one
			words = append(words, key+"="+*value)
		default:
			words = append(words, key+"="+Quote(*value))
		}
	}
	return o.patch(strings.Join(words, " "), types.MergePatchType, map[string]any{"metadata": map[string]any{field: values}})
}

// Uncordon lets a node take pods again.
func Uncordon(node string) diagnosticsv1alpha1.FixStep {
	return Node(node).patch("kubectl uncordon "+node, types.MergePatchType, map[string]any{"spec": map[string]any{"unschedulable": nil}})
}

// Merge applies a JSON merge patch, which is any value that can be marshalled.
func Merge(o Object, patch any) diagnosticsv1alpha1.FixStep {
	step := o.patch("", types.MergePatchType, patch)
	step.Command = strings.Join(append(o.words("patch"), "--type merge -p", Quote(step.Patch)), " ")
	return step
}

// Patch applies a strategic merge patch, which is any value that can be marshalled: lists are merged by the keys of their elements.
// Custom resources have none.
func Patch(o Object, patch any) diagnosticsv1alpha1.FixStep {
	step := o.patch("", types.StrategicMergePatchType, patch)
	step.Command = strings.Join(append(o.words("patch"), "-p", Quote(step.Patch)), " ")
	return step
}

// Add is an operation of a JSON patch that inserts a value: at the end of a list for a path that ends in "/-".
type Add struct {
	Path  string
	Value any
}

// MarshalJSON writes the operation as RFC 6902 has it.
func (a Add) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}{"add", a.Path, a.Value})
}

// Insert applies a JSON patch that only adds.
func Insert(o Object, operations ...Add) diagnosticsv1alpha1.FixStep {
	step := o.patch("", types.JSONPatchType, operations)
	step.Command = strings.Join(append(o.words("patch"), "--type json -p", Quote(step.Patch)), " ")
	return step
}

// Delete removes an object.
func Delete(o Object) diagnosticsv1alpha1.FixStep {
	step := o.step("delete")
	step.Command = strings.Join(o.words("delete"), " ")
	return step
}

// Edit opens an object for a person to change: there is no request to repeat.
func Edit(o Object) diagnosticsv1alpha1.FixStep {
	step := o.step("")
	step.Command = strings.Join(o.words("edit"), " ")
	return step
}

// Line is a command line that makes all changes in turn and stops at the first that fails; empty without changes.
func Line(steps []diagnosticsv1alpha1.FixStep) string {
	commands := make([]string, len(steps))
	for i := range steps {
		commands[i] = steps[i].Command
	}
	return strings.Join(commands, " && ")
}

func (o Object) step(verb string) diagnosticsv1alpha1.FixStep {
	return diagnosticsv1alpha1.FixStep{Verb: verb, Group: o.group, Version: o.version, Resource: o.resource, Namespace: o.namespace, Name: o.name}
}

// patch is a step with a patch. A patch that cannot be marshalled is replaced by the error as a
// JSON string, which the API server refuses.
func (o Object) patch(command string, kind types.PatchType, patch any) diagnosticsv1alpha1.FixStep {
	step := o.step("patch")
	text, err := json.Marshal(patch)
	if err != nil {
		text = fmt.Appendf(nil, "%q", err)
	}
	step.Command, step.PatchType, step.Patch = command, string(kind), string(text)
	return step
}
