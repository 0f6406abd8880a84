package configuration

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/core/configmerge"
)

// Minimal is a configuration that switches co-location on, and what keeps it in check.
func Minimal() map[string]string {
	return map[string]string{
		colocationKey: "{\n  \"enable\": true\n}",
		thresholdKey:  "{\n  \"clusterStrategy\": {\n    \"enable\": true\n  }\n}",
	}
}

// Full is a configuration that names every setting with a built-in default, at that default. It means the same as none.
func Full() (map[string]string, error) {
	data := map[string]string{}
	for _, key := range configuration.Keys() {
		layout, _ := configmerge.LayoutOf(key)
		text := "{}"
		if layout.ClusterField != "" {
			text = fmt.Sprintf(`{%q: {}}`, layout.ClusterField)
		}
		for _, group := range configmerge.Default().Groups(key) {
			for _, setting := range group.Settings {
				path, err := ParseKeyPath(JoinKey(key, setting.Key))
				if err == nil {
					text, err = Set(text, path, setting.Value)
				}
				if err != nil {
					return nil, fmt.Errorf("write the default of %s: %w", JoinKey(key, setting.Key), err)
				}
			}
		}
		root, err := parseTree(text)
		if err != nil {
			return nil, fmt.Errorf("write the defaults of %s: %w", key, err)
		}
		root.put(layout.NodesField, &tree{kind: arrayTree})
		data[key] = root.String()
	}
	return data, nil
}

// WithoutDefault lists the fields of a key that have no built-in default, which Full therefore does not name.
func WithoutDefault(key string) ([]FieldDocumentation, error) {
	fields, err := Explain(KeyPath{Key: key})
	if err != nil {
		return nil, err
	}
	out := fields[:0]
	for _, field := range fields {
		if field.Default == "" && !strings.HasPrefix(field.Path, "extensions") {
			out = append(out, field)
		}
	}
	return out, nil
}
