package kubectlplugin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/finding"
)

// configDocument is a configuration in YAML.
type configDocument struct {
	// namespace of the ConfigMap; empty when the document does not say.
	namespace string
	// data of ConfigMap slo-controller-config; nil when it is not among the documents.
	data map[string]string
	// components are the data of the ConfigMaps of the scheduler and of the descheduler, by name.
	components map[string]map[string]string
}

// parseConfigFile reads ConfigMap slo-controller-config, or its data alone: keys with their texts as strings or expanded
// out. Of several documents the one that is this ConfigMap counts; any other object alone is refused.
func parseConfigFile(text []byte) (*configDocument, error) {
	found, others, err := parseConfigDocuments(text)
	if err == nil && found.data == nil {
		return nil, notTheConfiguration(others)
	}
	return found, err
}

// parseComponents does the same, and takes a file with the ConfigMaps of the scheduler or the descheduler alone.
func parseComponents(text []byte) (*configDocument, error) {
	found, others, err := parseConfigDocuments(text)
	if err == nil && found.data == nil && len(found.components) == 0 {
		return nil, notTheConfiguration(others)
	}
	return found, err
}

// parseConfigDocuments also returns the other objects of the documents.
func parseConfigDocuments(text []byte) (*configDocument, []string, error) {
	found, components := &configDocument{}, map[string]map[string]string{}
	var bare []*configDocument
	var others []string
	for _, document := range splitDocuments(text) {
		var content map[string]any
		if err := yaml.Unmarshal(document, &content); err != nil {
			return nil, nil, fmt.Errorf("not YAML: %w", err)
		}
		if len(content) == 0 {
			continue
		}
		if content["kind"] == nil && content["apiVersion"] == nil {
			data, err := bareData(content)
			if err != nil {
				return nil, nil, err
			}
			bare = append(bare, &configDocument{data: data})
			continue
		}
		if other := otherObject(content); other != "" {
			others = append(others, other)
			if component(content) == "" {
				continue
			}
		}
		object := &corev1.ConfigMap{}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			return nil, nil, fmt.Errorf("not a ConfigMap: %w", err)
		}
		if name := component(content); name != "" {
			components[name] = object.Data
		} else if found.data == nil {
			found.namespace, found.data = object.Namespace, orEmpty(object.Data)
		}
	}
	if found.data == nil && len(bare) == 1 && len(others) == 0 {
		found = bare[0]
	}
	found.components = components
	return found, others, nil
}

// orEmpty are data that are known.
func orEmpty(data map[string]string) map[string]string {
	if data == nil {
		return map[string]string{}
	}
	return data
}

// component names the ConfigMap of the scheduler or of the descheduler; it is empty for any other object.
func component(content map[string]any) string {
	kind, _ := content["kind"].(string)
	metadata, _ := content["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if kind == "ConfigMap" && (name == configuration.SchedulerConfigMapName || name == configuration.DeschedulerConfigMapName) {
		return name
	}
	return ""
}

// otherObject names an object that is not ConfigMap slo-controller-config; it is empty for that one.
func otherObject(content map[string]any) string {
	kind, _ := content["kind"].(string)
	metadata, _ := content["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if kind == "ConfigMap" && name == configuration.DefaultConfigMapName {
		return ""
	}
	if name == "" {
		return cmp.Or(kind, "object") + " without a name"
	}
	return fmt.Sprintf("%s %q", cmp.Or(kind, "object"), name)
}

func notTheConfiguration(others []string) error {
	text := "it must contain ConfigMap " + configuration.DefaultConfigMapName + ", or its data alone"
	if len(others) > 0 {
		text += ", but contains " + strings.Join(others, ", ")
	}
	return finding.Wrap(fmt.Errorf("%s", text), finding.InvalidArgument, "koordctl config init prints a ConfigMap to start from")
}

func splitDocuments(text []byte) [][]byte {
	var out [][]byte
	var current bytes.Buffer
	for line := range bytes.Lines(text) {
		if trimmed := bytes.TrimRight(line, " \t\r\n"); bytes.Equal(trimmed, []byte("---")) {
			out = append(out, bytes.Clone(current.Bytes()))
			current.Reset()
			continue
		}
		current.Write(line)
	}
	return append(out, current.Bytes())
}

// bareData reads keys whose texts are strings or expanded out.
func bareData(content map[string]any) (map[string]string, error) {
	data := map[string]string{}
	for key, value := range content {
		if text, ok := value.(string); ok {
			data[key] = text
			continue
		}
		encoded, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("encode key %q: %w", key, err)
		}
		data[key] = string(encoded)
	}
	return data, nil
}
