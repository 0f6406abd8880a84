package configmerge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Names of the layers that are not a node strategy, as Setting.Layer spells them.
const (
	LayerDefault        = "default"
	LayerCluster        = "cluster"
	LayerNodeAnnotation = "node annotation"
	LayerNodeLabel      = "node label"
)

// strategyLayer names the layer of a node strategy.
func strategyLayer(name string, index int) string {
	if name == "" {
		return fmt.Sprintf("node strategy #%d", index+1)
	}
	return "node strategy " + name
}

// overlay is values merged from layers, which remembers for each leaf the layer it came from. Objects are merged key by
// key; everything else, arrays included, is replaced as a whole.
type overlay struct {
	values map[string]any
	// origin maps the path of a leaf to its layer, and defaults to its text in the built-in default.
	origin, defaults map[string]string
}

func newOverlay() overlay {
	return overlay{values: map[string]any{}, origin: map[string]string{}, defaults: map[string]string{}}
}

// clone copies the overlay, so that a further layer leaves the receiver as it is.
func (o overlay) clone() overlay {
	return overlay{values: cloneObject(o.values), origin: maps.Clone(o.origin), defaults: maps.Clone(o.defaults)}
}

func cloneObject(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for key, value := range object {
		if inner, ok := value.(map[string]any); ok {
			value = cloneObject(inner)
		}
		out[key] = value
	}
	return out
}

// add puts a layer on top. Nulls do not override.
func (o overlay) add(layer string, values map[string]any) {
	o.addAt(o.values, "", layer, values)
}

func (o overlay) addAt(into map[string]any, path, layer string, values map[string]any) {
	for key, value := range values {
		if value == nil {
			continue
		}
		at := joinPath(path, key)
		inner, isObject := value.(map[string]any)
		if !isObject {
			if _, replaced := into[key].(map[string]any); replaced {
				o.forget(at)
			}
			into[key], o.origin[at] = value, layer
			if layer == LayerDefault {
				o.defaults[at] = settingText(value)
			}
			continue
		}
		below, ok := into[key].(map[string]any)
		if !ok {
			delete(o.origin, at)
			below = map[string]any{}
			into[key] = below
		}
		o.addAt(below, at, layer, inner)
	}
}

// forget drops the origins below a path whose object is replaced by a plain value.
func (o overlay) forget(path string) {
	maps.DeleteFunc(o.origin, func(at, _ string) bool {
		return strings.HasPrefix(at, path+".") || strings.HasPrefix(at, path+"[")
	})
}

// settings lists every leaf with its value and layer, ordered by key.
func (o overlay) settings() []diagnosticsv1alpha1.Setting {
	out := make([]diagnosticsv1alpha1.Setting, 0, len(o.origin))
	o.collect(o.values, "", &out)
	slices.SortFunc(out, func(a, b diagnosticsv1alpha1.Setting) int { return strings.Compare(a.Key, b.Key) })
	return out
}

func (o overlay) collect(values map[string]any, path string, out *[]diagnosticsv1alpha1.Setting) {
	for key, value := range values {
		at := joinPath(path, key)
		if inner, ok := value.(map[string]any); ok {
			o.collect(inner, at, out)
			continue
		}
		setting := diagnosticsv1alpha1.Setting{Key: at, Value: settingText(value), Layer: o.origin[at]}
		text, known := o.defaults[at]
		setting.AtDefault = known && text == setting.Value
		*out = append(*out, setting)
	}
}

// settingText shows a value: scalars bare, the rest as JSON.
func settingText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	case bool:
		return fmt.Sprint(value)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(encoded)
}
