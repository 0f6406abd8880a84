package policy

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"koordinator.sh/koord/decision/admission/colocationprofile"
)

// program collects the variables of the policy. A field's current value is the optional that its newest variable holds.
type program struct {
	variables []admissionregistrationv1.Variable
	current   map[colocationprofile.Field]string
	// touched are the fields with steps, in the order of their first one.
	touched []colocationprofile.Field
}

// define adds a variable and returns the expression that reads it.
func (p *program) define(name, expression string) string {
	p.variables = append(p.variables, admissionregistrationv1.Variable{Name: name, Expression: expression})
	return "variables." + name
}

// value is the optional that a field holds so far.
func (p *program) value(field colocationprofile.Field) string {
	if current, ok := p.current[field]; ok {
		return current
	}
	switch field.Area {
	case colocationprofile.Labels:
		return fmt.Sprintf("variables.podLabels[?%s]", quote(field.Key))
	case colocationprofile.Annotations:
		return fmt.Sprintf("variables.podAnnotations[?%s]", quote(field.Key))
	}
	return "object.spec.?" + strings.TrimPrefix(string(field.Area), "spec.")
}

// add appends a step of the profile whose match is the condition.
func (p *program) add(condition string, step colocationprofile.Step) {
	before := p.value(step.Field)
	after := ""
	switch step.Kind {
	case colocationprofile.Set:
		after = fmt.Sprintf("optional.of(dyn(%s))", literal(step))
	case colocationprofile.Remove:
		after = "optional.none()"
	case colocationprofile.Copy:
		after = fmt.Sprintf("%s.or(%s)", p.value(step.From), before)
	case colocationprofile.Append:
		suffix := quote(step.Value)
		after = fmt.Sprintf("%s.optMap(v, v.endsWith(%s) ? v : v + %s)", before, suffix, suffix)
	}
	if _, known := p.current[step.Field]; !known {
		p.touched = append(p.touched, step.Field)
	}
	name := fmt.Sprintf("v%d", len(p.variables))
	p.current[step.Field] = p.define(name, fmt.Sprintf("%s ? %s : %s", condition, after, before))
}

// literal is the value of a Set step: a number for the priority, a string otherwise.
func literal(step colocationprofile.Step) string {
	if step.Field.Area == colocationprofile.Priority {
		return step.Value
	}
	return quote(step.Value)
}

// fieldPatches are the parts of the JSON patch that write the touched fields, maps first that do not exist yet.
func (p *program) fieldPatches(annotates string) []string {
	var parts []string
	added := map[colocationprofile.Area][]string{}
	for _, field := range p.touched {
		added[field.Area] = append(added[field.Area], p.current[field]+".hasValue()")
	}
	if annotates != "" {
		added[colocationprofile.Annotations] = append(added[colocationprofile.Annotations], annotates)
	}
	for _, area := range []colocationprofile.Area{colocationprofile.Labels, colocationprofile.Annotations} {
		if conditions := added[area]; len(conditions) > 0 {
			parts = append(parts, fmt.Sprintf(`(!has(object.%s) && %s ? [JSONPatch{op: "add", path: %q, value: {}}] : [])`,
				area, anyOf(conditions), pathOf(area)))
		}
	}
	for _, field := range p.touched {
		path, value := pathOf(field.Area), p.current[field]
		if field.Key == "" {
			parts = append(parts, fmt.Sprintf(`(%s.hasValue() ? [JSONPatch{op: "add", path: %q, value: %s.value()}] : [])`, value, path, value))
			continue
		}
		path = pointer(path, field.Key)
		existing := "variables.podLabels"
		if field.Area == colocationprofile.Annotations {
			existing = "variables.podAnnotations"
		}
		parts = append(parts, fmt.Sprintf(`(%s.hasValue() ? [JSONPatch{op: "add", path: %q, value: %s.value()}] : %s in %s ? [JSONPatch{op: "remove", path: %q}] : [])`,
			value, path, value, quote(field.Key), existing, path))
	}
	return parts
}

func pathOf(area colocationprofile.Area) string {
	return "/" + strings.ReplaceAll(string(area), ".", "/")
}
