package configuration

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/configmerge"
)

// Set returns a key's JSON with one value changed or added; everything else keeps its order. The value is JSON, or a text
// where the field is one. A node strategy is named by its place or its name; the place after the last one adds a strategy. A
// field that nothing reads is an error, unless it stands there already. A value that is there already changes nothing.
func Set(text string, path KeyPath, value string) (string, error) {
	given, err := parseValue(path, value)
	if err != nil {
		return "", fmt.Errorf("set %s: %w", path, err)
	}
	root := given
	if len(path.segments) > 0 {
		if root, err = parseTree(text); err != nil {
			return "", fmt.Errorf("set %s: the key is not valid JSON: %w", path, err)
		}
		if err := setIn(root, path.segments, given); err != nil {
			return "", fmt.Errorf("set %s: %w", path, err)
		}
	}
	after := root.String()
	if err := newlyUnknown(path.Key, text, after); err != nil {
		return "", err
	}
	if before, err := parseTree(text); err == nil && before.String() == after {
		// Nothing but the layout would change.
		return text, nil
	}
	return after, nil
}

// newlyUnknown is an error for a field that nothing reads and that a change brings in: who types it has mistyped it. What a
// newer version of the schema has comes in a file, where it is a warning.
func newlyUnknown(key, before, after string) error {
	had := map[string]bool{}
	for _, problem := range configmerge.Unknown(key, before) {
		had[problem.Path] = true
	}
	for _, problem := range configmerge.Unknown(key, after) {
		if problem.Code == finding.ConfigUnknownField && !had[problem.Path] {
			return finding.Wrap(fmt.Errorf("%s %s", JoinKey(key, problem.Path), problem.Message), problem.Code,
				"koordctl config explain "+key+" lists the fields; those of other versions can be applied from a file")
		}
	}
	return nil
}

// parseValue reads a value in the spelling of its field.
func parseValue(path KeyPath, value string) (*tree, error) {
	field, known := FieldOf(path)
	isText := known && strings.HasSuffix(field.Path, "[]") == strings.HasSuffix(path.Field(), "[]") && (field.Kind == "text" || field.Kind == "duration" || field.Kind == "quantity")
	if json.Valid([]byte(value)) && value != "" && (!isText || strings.HasPrefix(value, `"`) || value == "null") {
		return parseTree(value)
	}
	if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") || len(path.segments) == 0 {
		return nil, fmt.Errorf("%s is not valid JSON", shorten(value))
	}
	raw, err := marshal(value)
	return &tree{raw: raw}, err
}

func shorten(text string) string {
	const longest = 40
	if len(text) <= longest {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:longest], "")) + "..."
}

func setIn(t *tree, segments []segment, value *tree) error {
	s := segments[0]
	if s.item {
		index, err := t.find(s, true)
		if err != nil {
			return err
		}
		if index == len(t.items) {
			t.items = append(t.items, &tree{kind: objectTree})
		}
		if len(segments) == 1 {
			t.items[index] = value
			return nil
		}
		return setIn(t.items[index], segments[1:], value)
	}
	if t.kind != objectTree {
		return fmt.Errorf("%s is a field, but its parent is not an object", s.text)
	}
	if len(segments) == 1 {
		t.put(s.text, value)
		return nil
	}
	inner := t.get(s.text)
	if inner == nil || inner.raw == "null" {
		inner = &tree{kind: objectTree}
		if segments[1].item {
			inner.kind = arrayTree
		}
		t.put(s.text, inner)
	}
	return setIn(inner, segments[1:], value)
}

// find is the index of an item by its place or its name. With grow, the place after the last one is allowed.
func (t *tree) find(s segment, grow bool) (int, error) {
	if t.kind != arrayTree {
		return 0, fmt.Errorf("[%s] is an array index, but its parent is not an array", s.text)
	}
	var names []string
	for i, item := range t.items {
		name := item.get("name")
		if name == nil {
			continue
		}
		var text string
		if err := json.Unmarshal([]byte(name.raw), &text); err == nil {
			if text == s.text {
				return i, nil
			}
			names = append(names, text)
		}
	}
	last := len(t.items) - 1
	if grow {
		last++
	}
	index, err := strconv.Atoi(s.text)
	if err == nil && index >= 0 && index <= last {
		return index, nil
	}
	if err == nil {
		return 0, fmt.Errorf("there is no item [%d], the last one is [%d]", index, len(t.items)-1)
	}
	if len(names) == 0 {
		return 0, fmt.Errorf("no item is named %q", s.text)
	}
	return 0, fmt.Errorf("no item is named %q; the names are %s", s.text, strings.Join(names, ", "))
}

// errNotSet is returned for a value that does not stand in the text.
var errNotSet = errors.New("is not set")

// Unset returns a key's JSON without a value. Objects that are empty then go too, up to the strategy.
func Unset(text string, path KeyPath) (string, error) {
	root, err := parseTree(text)
	if err != nil {
		return "", fmt.Errorf("unset %s: the key is not valid JSON: %w", path, err)
	}
	if err := unsetIn(root, path.segments, len(path.segments)-path.strategy); err != nil {
		return "", fmt.Errorf("unset %s: %w", path, err)
	}
	return root.String(), nil
}

// unsetIn removes what the segments lead to. The last so many of them are below the strategy.
func unsetIn(t *tree, segments []segment, below int) error {
	if len(segments) == 0 {
		*t = tree{kind: objectTree}
		return nil
	}
	s := segments[0]
	if s.item {
		index, err := t.find(s, false)
		if err != nil {
			return err
		}
		if len(segments) == 1 {
			t.items = append(t.items[:index], t.items[index+1:]...)
			return nil
		}
		return unsetIn(t.items[index], segments[1:], below)
	}
	inner := t.get(s.text)
	if inner == nil {
		return errNotSet
	}
	if len(segments) == 1 {
		t.drop(s.text)
		return nil
	}
	if err := unsetIn(inner, segments[1:], below); err != nil {
		return err
	}
	if inner.empty() && len(segments) <= below {
		t.drop(s.text)
	}
	return nil
}

// Value is the JSON of a value in a key's text, and false where it is not set.
func Value(text string, path KeyPath) (string, bool, error) {
	t, err := parseTree(text)
	if err != nil {
		return "", false, fmt.Errorf("get %s: the key is not valid JSON: %w", path, err)
	}
	for _, s := range path.segments {
		if s.item {
			index, err := t.find(s, false)
			if err != nil {
				return "", false, fmt.Errorf("get %s: %w", path, err)
			}
			t = t.items[index]
			continue
		}
		if t = t.get(s.text); t == nil {
			return "", false, nil
		}
	}
	return t.String(), true, nil
}
