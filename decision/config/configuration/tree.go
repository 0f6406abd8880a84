package configuration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"koordinator.sh/koord/api/configuration"
)

// maxDepth bounds the nesting of a document that is edited.
const maxDepth = 64

// tree is a JSON value that keeps the order of its fields and the spelling of its numbers.
type tree struct {
	// raw is a scalar as it is written.
	raw string
	// fields of an object.
	fields []field
	// items of an array.
	items []*tree
	kind  treeKind
}

type treeKind int

const (
	scalarTree treeKind = iota
	objectTree
	arrayTree
)

type field struct {
	name  string
	value *tree
}

// parseTree reads one JSON value; an empty text is an empty object.
func parseTree(text string) (*tree, error) {
	if strings.TrimSpace(text) == "" {
		return &tree{kind: objectTree}, nil
	}
	if len(text) > configuration.MaxConfigBytes {
		return nil, fmt.Errorf("%d bytes exceed the limit of %d", len(text), configuration.MaxConfigBytes)
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	t, err := readTree(decoder, 0)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return t, nil
}

func readTree(decoder *json.Decoder, depth int) (*tree, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	delimiter, isDelimiter := token.(json.Delim)
	if !isDelimiter {
		raw, err := marshal(token)
		return &tree{raw: raw}, err
	}
	t := &tree{kind: arrayTree}
	if delimiter == '{' {
		t.kind = objectTree
	}
	for decoder.More() {
		if t.kind == arrayTree {
			item, err := readTree(decoder, depth+1)
			if err != nil {
				return nil, err
			}
			t.items = append(t.items, item)
			continue
		}
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		value, err := readTree(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		t.put(fmt.Sprint(name), value)
	}
	_, err = decoder.Token()
	return t, err
}

// marshal writes a scalar without escaping what is only special in HTML.
func marshal(value any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func (t *tree) get(name string) *tree {
	for i := range t.fields {
		if t.fields[i].name == name {
			return t.fields[i].value
		}
	}
	return nil
}

// put sets a field in its place, or adds it at the end.
func (t *tree) put(name string, value *tree) {
	for i := range t.fields {
		if t.fields[i].name == name {
			t.fields[i].value = value
			return
		}
	}
	t.fields = append(t.fields, field{name, value})
}

// drop removes a field and says whether it was there.
func (t *tree) drop(name string) bool {
	for i := range t.fields {
		if t.fields[i].name == name {
			t.fields = append(t.fields[:i], t.fields[i+1:]...)
			return true
		}
	}
	return false
}

func (t *tree) empty() bool { return t.kind != scalarTree && len(t.fields) == 0 && len(t.items) == 0 }

// String is the value as JSON, indented by two spaces.
func (t *tree) String() string {
	var b strings.Builder
	t.write(&b, "\n")
	return b.String()
}

func (t *tree) write(b *strings.Builder, line string) {
	switch {
	case t.kind == scalarTree:
		b.WriteString(t.raw)
	case t.kind == objectTree && len(t.fields) == 0:
		b.WriteString("{}")
	case t.kind == arrayTree && len(t.items) == 0:
		b.WriteString("[]")
	case t.kind == objectTree:
		for i, f := range t.fields {
			// Names come from a decoder or a path; both always encode.
			name, _ := marshal(f.name)
			b.WriteString(opening(i, "{") + line + "  " + name + ": ")
			f.value.write(b, line+"  ")
		}
		b.WriteString(line + "}")
	default:
		for i, item := range t.items {
			b.WriteString(opening(i, "[") + line + "  ")
			item.write(b, line+"  ")
		}
		b.WriteString(line + "]")
	}
}

func opening(i int, bracket string) string {
	if i == 0 {
		return bracket
	}
	return ","
}
