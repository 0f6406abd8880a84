package policy

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// quote writes a string as a CEL literal.
func quote(value string) string { return strconv.QuoteToASCII(value) }

// list writes a list of strings.
func list(values []string) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = quote(value)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// anyOf is true when one of the conditions is; false without conditions.
func anyOf(conditions []string) string {
	if len(conditions) == 0 {
		return "false"
	}
	return "(" + strings.Join(conditions, " || ") + ")"
}

// allOf is true when all conditions are, and without conditions.
func allOf(conditions []string) string {
	if len(conditions) == 0 {
		return "true"
	}
	return "(" + strings.Join(conditions, " && ") + ")"
}

// meets is true when the labels that an expression yields meet the requirements.
func meets(requirements labels.Requirements, labels string) string {
	conditions := make([]string, 0, len(requirements))
	for i := range requirements {
		key, values := quote(requirements[i].Key()), requirements[i].Values().List()
		in := fmt.Sprintf("(%s in %s && %s[%s] in %s)", key, labels, labels, key, list(values))
		switch requirements[i].Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			conditions = append(conditions, in)
		case selection.NotIn, selection.NotEquals:
			conditions = append(conditions, "!"+in)
		case selection.Exists:
			conditions = append(conditions, fmt.Sprintf("(%s in %s)", key, labels))
		case selection.DoesNotExist:
			conditions = append(conditions, fmt.Sprintf("!(%s in %s)", key, labels))
		default:
			conditions = append(conditions, "false") // LabelSelector knows no other operator
		}
	}
	return allOf(conditions)
}

// pointer is the JSON pointer of a key in a map.
func pointer(base, key string) string {
	return base + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
