package configuration

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Overlap returns the fields that two changes of one configuration both make and do not make alike, as key paths: of two
// fields of which one holds the other, the one that is held. Two changes without an overlap can be made one after the other.
func Overlap(base, mine, theirs map[string]string) []string {
	var out []string
	other := changedFields(base, theirs)
	for _, a := range changedFields(base, mine) {
		for _, b := range other {
			switch {
			case a.path == b.path && reflect.DeepEqual(a.value, b.value):
			case a.path == b.path || holds(a.path, b.path):
				out = append(out, b.path)
			case holds(b.path, a.path):
				out = append(out, a.path)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// OverlappingKeys returns the keys whose texts two changes of one configuration both change and do not change alike.
func OverlappingKeys(base, mine, theirs map[string]string) []string {
	var out []string
	for _, key := range keysOf(mine, theirs) {
		before, had := base[key]
		own, stays := mine[key]
		other, stayed := theirs[key]
		if (own != before || stays != had) && (other != before || stayed != had) && (own != other || stays != stayed) {
			out = append(out, key)
		}
	}
	return out
}

// fieldChange is a field with its new value; nil when it was removed.
type fieldChange struct {
	path  string
	value any
}

func changedFields(before, after map[string]string) []fieldChange {
	var out []fieldChange
	for _, key := range keysOf(before, after) {
		old, had := before[key]
		text, has := after[key]
		if had != has || old != text {
			out = append(out, fieldChanges(key, parsed(old, had), parsed(text, has))...)
		}
	}
	return out
}

// parsed is a text as JSON; one that is no JSON is a value that cannot be looked into, and no text is nil.
func parsed(text string, exists bool) any {
	if !exists {
		return nil
	}
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return value
}

// fieldChanges looks into objects, and into lists of named objects. What is added is listed field by field, so that two
// edits can add to one object; what is removed is listed with all of its fields, so that an edit of one of them conflicts.
func fieldChanges(path string, before, after any) []fieldChange {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	old, new, ok := asObjects(before, after)
	if !ok {
		return []fieldChange{{path, after}}
	}
	var out []fieldChange
	for _, name := range keysOf(old, new) {
		out = append(out, fieldChanges(joined(path, name), old[name], new[name])...)
	}
	return out
}

func asObjects(before, after any) (old, new map[string]any, ok bool) {
	if list, isList := after.([]any); isList {
		return namedElements(before, list)
	}
	if new, ok = after.(map[string]any); !ok || len(new) == 0 {
		return nil, nil, false
	}
	if before == nil {
		return nil, new, true
	}
	old, ok = before.(map[string]any)
	return old, new, ok
}

// namedElements are the elements of lists whose elements have names, by name, where the second list is the first with
// elements appended: any other change of the list moves what a path with an index means.
func namedElements(before any, after []any) (old, new map[string]any, ok bool) {
	first, isList := before.([]any)
	if before != nil && !isList || len(after) == 0 || len(first) > len(after) {
		return nil, nil, false
	}
	old, new = map[string]any{}, map[string]any{}
	for i, element := range after {
		name := nameOf(element)
		if _, twice := new["["+name+"]"]; name == "" || twice || i < len(first) && nameOf(first[i]) != name {
			return nil, nil, false
		}
		new["["+name+"]"] = element
		if i < len(first) {
			old["["+name+"]"] = first[i]
		}
	}
	return old, new, true
}

func nameOf(element any) string {
	object, _ := element.(map[string]any)
	name, _ := object["name"].(string)
	return name
}

func keysOf[T any](maps ...map[string]T) []string {
	var out []string
	for _, m := range maps {
		for key := range m {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// joined is the path of a field, or of an element, which is a field in brackets.
func joined(path, name string) string {
	if strings.HasPrefix(name, "[") {
		return path + name
	}
	return path + "." + name
}

// holds says whether a path names something inside of what another names.
func holds(outer, inner string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}
