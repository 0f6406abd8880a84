package configmerge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxDepth bounds the nesting of a configuration document; the deepest legitimate one has fewer than ten levels.
const maxDepth = 64

// document is a JSON text with the offset at which the value of each path starts.
type document struct {
	text string
	// root is the decoded text: map[string]any, []any, string, bool, json.Number or nil.
	root any
	// starts maps a path such as nodeConfigs[1].enable to the offset of its value.
	starts map[string]int64
	// repeated are the paths that an object names more than once; the last value counts.
	repeated []string
}

// syntaxError is a JSON text that cannot be read, with the offset of the last byte that was looked at.
type syntaxError struct {
	offset int64
	err    error
}

func (e *syntaxError) Error() string { return e.err.Error() }
func (e *syntaxError) Unwrap() error { return e.err }

// parseDocument decodes a JSON text and remembers where every value stands. A text that is not one JSON value gives a
// *syntaxError.
func parseDocument(text string) (*document, error) {
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		offset := int64(len(text) - 1)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = syntax.Offset - 1
		}
		return nil, &syntaxError{offset: offset, err: err}
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	doc := &document{text: text, starts: map[string]int64{}}
	root, err := doc.read(decoder, "", 0)
	if err != nil {
		return nil, &syntaxError{offset: decoder.InputOffset(), err: err}
	}
	doc.root = root
	return doc, nil
}

func (d *document) read(decoder *json.Decoder, path string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	d.starts[path] = d.valueStart(decoder.InputOffset())
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	value := any(token)
	if delimiter, ok := token.(json.Delim); ok {
		if delimiter == '{' {
			value, err = d.readObject(decoder, path, depth)
		} else {
			value, err = d.readArray(decoder, path, depth)
		}
		if err != nil {
			return nil, err
		}
	}
	return value, nil
}

// valueStart skips what stands between the token before and the value.
func (d *document) valueStart(offset int64) int64 {
	rest := d.text[offset:]
	return offset + int64(len(rest)-len(strings.TrimLeft(rest, " \t\r\n:,")))
}

func (d *document) readObject(decoder *json.Decoder, path string, depth int) (any, error) {
	object := map[string]any{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("object key %v is not a string", token)
		}
		if _, again := object[key]; again {
			d.repeated = append(d.repeated, joinPath(path, key))
		}
		if object[key], err = d.read(decoder, joinPath(path, key), depth+1); err != nil {
			return nil, err
		}
	}
	_, err := decoder.Token()
	return object, err
}

func (d *document) readArray(decoder *json.Decoder, path string, depth int) (any, error) {
	array := []any{}
	for decoder.More() {
		item, err := d.read(decoder, indexPath(path, len(array)), depth+1)
		if err != nil {
			return nil, err
		}
		array = append(array, item)
	}
	_, err := decoder.Token()
	return array, err
}

// position returns the line and column, both from 1, of an offset in a text.
func position(text string, offset int64) (line, column int) {
	before := text[:min(max(offset, 0), int64(len(text)))]
	return strings.Count(before, "\n") + 1, len(before) - strings.LastIndexByte(before, '\n')
}

// joinPath appends a key to a path; keys that would not read as one segment are quoted.
func joinPath(path, key string) string {
	if strings.ContainsAny(key, ".[]\" \t\n") || key == "" {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func indexPath(path string, index int) string {
	return path + "[" + strconv.Itoa(index) + "]"
}
