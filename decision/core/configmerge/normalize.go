package configmerge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// normalize brings the values a layer sets into the spelling of their type: known keys only, names in their own case,
// nulls and empty optional values dropped. Keys the source does not name stay out, even where the type would write a zero.
func normalize(source map[string]any, typ reflect.Type) (map[string]any, error) {
	encoded, err := json.Marshal(source)
	if err != nil {
		return nil, fmt.Errorf("encode layer: %w", err)
	}
	typed := reflect.New(typ).Interface()
	if err := json.Unmarshal(encoded, typed); err != nil {
		return nil, fmt.Errorf("decode layer: %w", err)
	}
	canonical, err := toObject(typed)
	if err != nil {
		return nil, err
	}
	return keepNamed(canonical, source), nil
}

// keepNamed drops the keys of the canonical form that the source does not set.
func keepNamed(canonical, source map[string]any) map[string]any {
	named := make(map[string]any, len(source))
	for key, value := range source {
		if value != nil {
			named[strings.ToLower(key)] = value
		}
	}
	out := make(map[string]any, len(canonical))
	for key, value := range canonical {
		original, ok := named[strings.ToLower(key)]
		if !ok {
			continue
		}
		inner, isObject := value.(map[string]any)
		originalInner, wasObject := original.(map[string]any)
		if isObject && wasObject {
			value = keepNamed(inner, originalInner)
		}
		out[key] = value
	}
	return out
}

// toObject writes a typed value as a JSON tree with numbers kept as written.
func toObject(typed any) (map[string]any, error) {
	encoded, err := json.Marshal(typed)
	if err != nil {
		return nil, fmt.Errorf("encode layer: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	object := map[string]any{}
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("decode layer: %w", err)
	}
	return object, nil
}

// decode stores the merged values in a typed strategy.
func (o overlay) decode(into any) error {
	encoded, err := json.Marshal(o.values)
	if err != nil {
		return fmt.Errorf("encode merged configuration: %w", err)
	}
	if err := json.Unmarshal(encoded, into); err != nil {
		return fmt.Errorf("decode merged configuration: %w", err)
	}
	return nil
}
