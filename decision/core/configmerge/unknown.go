package configmerge

import (
	"reflect"
	"strings"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/suggest"
)

// Unknown reports what in a key's JSON no version of the schema known here reads: fields with another name, and fields
// that stand twice in one object. A text that cannot be parsed has none; parsing reports that.
func Unknown(key, text string) []Problem {
	s := sectionOf(key)
	doc, err := parseDocument(text)
	if s.key == "" || err != nil {
		return nil
	}
	p := &sectionParser{section: s, doc: doc}
	for _, path := range doc.repeated {
		p.report(finding.ConfigDuplicate, path, "stands more than once in its object; the last value counts")
	}
	root, ok := doc.root.(map[string]any)
	if !ok {
		return p.problems
	}
	top, entry := reflect.StructOf(nil), s.strategy
	for field, value := range root {
		switch {
		case field == s.nodesField:
			items, _ := value.([]any)
			for i, item := range items {
				p.unknown(item, indexPath(field, i), entry, reflect.TypeFor[nodeProfile]())
			}
		case field == s.clusterField:
			p.unknown(value, field, s.strategy)
		case s.clusterField == "":
			p.unknown(map[string]any{field: value}, "", s.strategy)
		default:
			p.unknown(map[string]any{field: value}, "", top)
		}
	}
	sortByPlace(p.problems)
	return p.problems
}

// unknown looks through a value for fields that none of the types has.
func (p *sectionParser) unknown(value any, path string, types ...reflect.Type) {
	typ := types[0]
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if reflect.PointerTo(typ).Implements(unmarshalerType) {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			p.unknownKey(key, item, joinPath(path, key), typ, types[1:])
		}
	case []any:
		if typ.Kind() == reflect.Slice {
			for i, item := range value {
				p.unknown(item, indexPath(path, i), typ.Elem())
			}
		}
	}
}

func (p *sectionParser) unknownKey(key string, item any, path string, typ reflect.Type, more []reflect.Type) {
	switch typ.Kind() {
	case reflect.Map:
		p.unknown(item, path, elementType(typ, key))
		return
	case reflect.Struct:
	default:
		return
	}
	for _, candidate := range append([]reflect.Type{typ}, more...) {
		if field, ok := jsonFields(candidate)[strings.ToLower(key)]; ok {
			p.unknown(item, path, field)
			return
		}
	}
	p.report(finding.ConfigUnknownField, path, p.suggesting("is not a known field", key, typ))
}

// suggesting adds to a message the known field that is spelled nearly the same.
func (p *sectionParser) suggesting(message, key string, typ reflect.Type) string {
	names := []string{p.section.clusterField, p.section.nodesField}
	for i := range typ.NumField() {
		names = append(names, fieldNames(typ.Field(i))...)
	}
	if near := suggest.Nearest(key, names); near != "" {
		return message + ", did you mean " + near + "?"
	}
	return message
}

func fieldNames(field reflect.StructField) []string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if !field.Anonymous || name != "" {
		return []string{name}
	}
	inner := field.Type
	for inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	var names []string
	for i := range inner.NumField() {
		names = append(names, fieldNames(inner.Field(i))...)
	}
	return names
}
