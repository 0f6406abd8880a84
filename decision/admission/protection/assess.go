package protection

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// State of a protection.
type State string

const (
	// InForce is as the chart installed it.
	InForce State = "InForce"
	// Missing does not exist.
	Missing State = "Missing"
	// Weakened exists, and is not as the chart installed it.
	Weakened State = "Weakened"
)

// Assessment is the state of a protection, and what is different of one that is Weakened.
type Assessment struct {
	Protection
	State   State
	Changes []string
}

// Assess compares an object with what the ConfigMap says of it. Live is the object as JSON has it, nil when there is none.
func Assess(p Protection, expected string, live map[string]any) Assessment {
	out := Assessment{Protection: p, State: InForce}
	switch {
	case live == nil:
		out.State = Missing
		return out
	case p.Kind == MutatingWebhooks || p.Kind == ValidatingWebhooks:
		if webhooks, _ := live["webhooks"].([]any); len(webhooks) == 0 {
			out.Changes = []string{"it has no webhooks"} // those are koord-manager's, which puts them back
		}
	default:
		var want any
		if err := json.Unmarshal([]byte(expected), &want); err != nil {
			out.Changes = []string{fmt.Sprintf("its expected spec cannot be read from configmap %s: %v", ConfigMapName, err)}
			break
		}
		out.Changes = changes("spec", want, normal(live["spec"]))
	}
	if len(out.Changes) > 0 {
		out.State = Weakened
	}
	return out
}

// normal is the value as encoding/json decodes it, so that numbers have the same type no matter how the value was decoded.
func normal(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return value
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		return value
	}
	return out
}

// defaults are what the API server fills in for fields that a manifest leaves out.
var defaults = map[string]any{"matchPolicy": "Equivalent", "scope": "*", "failurePolicy": "Fail", "parameterNotFoundAction": "Deny"}

// changes lists what of a live value is not as wanted. What only the live value has is a change unless the API server fills it in, or
// it is empty: a selector that selects everything.
func changes(path string, want, live any) []string {
	switch want := want.(type) {
	case map[string]any:
		fields, is := live.(map[string]any)
		if !is {
			return []string{differs(path, want, live)}
		}
		var out []string
		for _, name := range slices.Sorted(maps.Keys(want)) {
			out = append(out, changes(path+"."+name, want[name], fields[name])...)
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if _, wanted := want[name]; !wanted && !empty(fields[name]) && !reflect.DeepEqual(fields[name], defaults[name]) {
				out = append(out, differs(path+"."+name, nil, fields[name]))
			}
		}
		return out
	case []any:
		items, is := live.([]any)
		if !is || len(items) != len(want) {
			return []string{differs(path, want, live)}
		}
		var out []string
		for i := range want {
			out = append(out, changes(fmt.Sprintf("%s[%d]", path, i), want[i], items[i])...)
		}
		return out
	}
	if reflect.DeepEqual(want, live) {
		return nil
	}
	return []string{differs(path, want, live)}
}

func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

// mostShown is the longest text of a value that a change is reported with; longer ones, such as expressions, are not shown.
const mostShown = 40

func differs(path string, want, live any) string {
	was, is := shown(want), shown(live)
	switch {
	case len(was) > mostShown || len(is) > mostShown:
		return path + " was changed"
	case want == nil:
		return fmt.Sprintf("%s is %s", path, is)
	}
	return fmt.Sprintf("%s is %s instead of %s", path, is, was)
}

func shown(value any) string {
	text, err := json.Marshal(value)
	if value == nil || err != nil {
		return "absent"
	}
	return strings.Trim(string(text), `"`)
}

// Finding reports a protection that is not in force.
func (a Assessment) Finding() diagnosticsv1alpha1.Finding {
	code, what := finding.ProtectionMissing, "does not exist"
	if a.State == Weakened {
		code, what = finding.ProtectionWeakened, "was changed after it was installed: "+strings.Join(a.Changes, "; ")
	}
	return diagnosticsv1alpha1.Finding{
		Code: string(code), Severity: diagnosticsv1alpha1.SeverityError, Hint: "koordctl install",
		Message: fmt.Sprintf("%s %q %s. %s. Chart value %s disables it", a.Kind, a.Name, what, "Without it "+a.Lost, a.Switch),
		Object:  &diagnosticsv1alpha1.SourceRef{Kind: a.Kind, Name: a.Name},
	}
}
