package configmerge

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
)

// reporter receives a path and what is wrong there.
type reporter func(path, message string)

var unmarshalerType = reflect.TypeFor[json.Unmarshaler]()

// checkType reports every value of a decoded JSON tree that encoding/json would refuse to store in the type. Unknown keys
// pass: newer and older versions of the configuration must be readable.
func checkType(value any, typ reflect.Type, path string, report reporter) {
	if value == nil {
		return
	}
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if reflect.PointerTo(typ).Implements(unmarshalerType) && typ.Kind() != reflect.Map {
		checkUnmarshaler(value, typ, path, report)
		return
	}
	switch typ.Kind() {
	case reflect.Struct:
		checkStruct(value, typ, path, report)
	case reflect.Map:
		checkMap(value, typ, path, report)
	case reflect.Slice, reflect.Array:
		checkArray(value, typ, path, report)
	case reflect.Interface:
	default:
		checkScalar(value, typ, path, report)
	}
}

func checkStruct(value any, typ reflect.Type, path string, report reporter) {
	object, ok := value.(map[string]any)
	if !ok {
		report(path, "must be an object, is "+describe(value))
		return
	}
	fields := jsonFields(typ)
	for key, item := range object {
		if field, ok := fields[strings.ToLower(key)]; ok {
			checkType(item, field, joinPath(path, key), report)
		}
	}
}

func checkMap(value any, typ reflect.Type, path string, report reporter) {
	object, ok := value.(map[string]any)
	if !ok {
		report(path, "must be an object, is "+describe(value))
		return
	}
	for key, item := range object {
		checkType(item, elementType(typ, key), joinPath(path, key), report)
	}
}

func checkArray(value any, typ reflect.Type, path string, report reporter) {
	array, ok := value.([]any)
	if !ok {
		report(path, "must be an array, is "+describe(value))
		return
	}
	for i, item := range array {
		checkType(item, typ.Elem(), indexPath(path, i), report)
	}
}

func checkScalar(value any, typ reflect.Type, path string, report reporter) {
	number, isNumber := value.(json.Number)
	switch typ.Kind() {
	case reflect.String:
		if _, ok := value.(string); !ok {
			report(path, "must be a string, is "+describe(value))
		}
	case reflect.Bool:
		if _, ok := value.(bool); !ok {
			report(path, "must be true or false, is "+describe(value))
		}
	case reflect.Float32, reflect.Float64:
		if _, err := strconv.ParseFloat(string(number), typ.Bits()); !isNumber || err != nil {
			report(path, "must be a number, is "+describe(value))
		}
	default:
		if _, err := strconv.ParseInt(string(number), 10, typ.Bits()); !isNumber || err != nil {
			report(path, "must be a whole number, is "+describe(value))
		}
	}
}

func checkUnmarshaler(value any, typ reflect.Type, path string, report reporter) {
	encoded, err := json.Marshal(value)
	if err == nil {
		err = extension.DecodeJSON(string(encoded), configuration.MaxConfigBytes, reflect.New(typ).Interface())
	}
	if err != nil {
		report(path, fmt.Sprintf("%s cannot be read: %v", describe(value), err))
	}
}

// fieldCache holds the field types of each struct by lower-case JSON name.
var fieldCache sync.Map // reflect.Type -> map[string]reflect.Type

// jsonFields lists a struct's fields by lower-case JSON name, because encoding/json matches names without regard to case.
func jsonFields(typ reflect.Type) map[string]reflect.Type {
	if cached, ok := fieldCache.Load(typ); ok {
		return cached.(map[string]reflect.Type)
	}
	fields := map[string]reflect.Type{}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || (!field.IsExported() && !field.Anonymous):
		case field.Anonymous && name == "":
			embedded := field.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			for key, inner := range jsonFields(embedded) {
				fields[key] = inner
			}
		case name == "":
			fields[strings.ToLower(field.Name)] = field.Type
		default:
			fields[strings.ToLower(name)] = field.Type
		}
	}
	fieldCache.Store(typ, fields)
	return fields
}

// describe shows a JSON value in a message, shortened.
func describe(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		return shorten(strconv.Quote(value))
	case json.Number:
		return shorten(string(value))
	default:
		return fmt.Sprint(value)
	}
}

func shorten(text string) string {
	const longest = 40
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "..."
}
