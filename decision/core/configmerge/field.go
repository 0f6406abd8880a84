package configmerge

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Field is one value a strategy can have.
type Field struct {
	// Path inside the strategy, such as beClass.cpuQOS.enable; [] stands for every item of an array, * for every key of a map.
	Path string
	// Kind of the value: boolean, whole number, number, text, duration, quantity, or any.
	Kind string
	// Range says which values are allowed, in words; empty when all are.
	Range string
	// Owner is the Go type that declares the field, and Name the field's name there, for finding its documentation.
	Owner reflect.Type
	Name  string
}

// Fields lists every value that the strategy of a key can have, in the order of its type.
func Fields(key string) []Field {
	s := sectionOf(key)
	if s.key == "" {
		return nil
	}
	var out []Field
	collectFields(s, s.strategy, "", nil, &out)
	return out
}

func collectFields(s section, typ reflect.Type, path string, segments []string, out *[]Field) {
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := field.Type
		for inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if field.Anonymous && name == "" {
			collectFields(s, inner, path, segments, out)
			continue
		}
		if name == "" || name == "-" {
			continue
		}
		collectValue(s, inner, Field{Path: JoinPath(path, name), Owner: typ, Name: field.Name}, append(slices.Clip(segments), name), out)
	}
}

func collectValue(s section, typ reflect.Type, field Field, segments []string, out *[]Field) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	opaque := reflect.PointerTo(typ).Implements(unmarshalerType)
	switch {
	case opaque || typ == reflect.TypeFor[json.RawMessage]():
	case typ.Kind() == reflect.Struct:
		collectFields(s, typ, field.Path, segments, out)
		return
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() != reflect.Uint8:
		field.Path += "[]"
		collectValue(s, typ.Elem(), field, append(slices.Clip(segments), "0"), out)
		return
	case typ.Kind() == reflect.Map:
		for _, key := range knownKeys(typ) {
			known := field
			known.Path = JoinPath(field.Path, key)
			collectValue(s, elementType(typ, key), known, append(slices.Clip(segments), key), out)
		}
		field.Path += ".*"
		collectValue(s, typ.Elem(), field, append(slices.Clip(segments), "*"), out)
		return
	}
	field.Kind, field.Range = kindOf(typ, opaque), s.rangeAt(segments)
	*out = append(*out, field)
}

func kindOf(typ reflect.Type, opaque bool) string {
	switch {
	case typ.Name() == "Duration":
		return "duration"
	case typ.Name() == "Quantity":
		return "quantity"
	case typ.Name() == "IntOrString":
		return "percent or quantity"
	case opaque, typ.Kind() == reflect.Interface, typ.Kind() == reflect.Slice:
		return "any"
	case typ.Kind() == reflect.Bool:
		return "boolean"
	case typ.Kind() == reflect.String:
		return "text"
	case typ.Kind() == reflect.Float64 || typ.Kind() == reflect.Float32:
		return "number"
	}
	return "whole number"
}

// rangeAt says in words which values a path of the section may have.
func (s section) rangeAt(segments []string) string {
	for _, bound := range s.bounds {
		if !bound.matches(segments) {
			continue
		}
		if len(bound.oneOf) > 0 {
			return "one of " + strings.Join(bound.oneOf, ", ")
		}
		return bound.span()
	}
	return ""
}
