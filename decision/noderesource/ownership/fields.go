package ownership

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fields are the fields of an object that one manager owns. The zero value owns nothing.
type Fields struct{ entries []map[string]any }

// Of reads the fields that a manager owns, through whatever subresource. Entries that cannot be read own nothing.
func Of(object metav1.Object, manager string) Fields {
	var out Fields
	for _, entry := range object.GetManagedFields() {
		if entry.Manager != manager || entry.FieldsV1 == nil {
			continue
		}
		var tree map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &tree); err == nil {
			out.entries = append(out.entries, tree)
		}
	}
	return out
}

// Has reports whether the manager owns the field at a path, such as "metadata", "labels", "pool".
func (f Fields) Has(path ...string) bool {
	for _, tree := range f.entries {
		if contains(tree, path) {
			return true
		}
	}
	return false
}

func contains(tree map[string]any, path []string) bool {
	for _, name := range path {
		inner, ok := tree["f:"+name].(map[string]any)
		if !ok {
			return false
		}
		tree = inner
	}
	return len(path) > 0
}
