package kubectlplugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/configuration"
)

// maxConfigFile bounds a file that is read: more than a ConfigMap can hold.
const maxConfigFile = 4 * configuration.MaxConfigBytes

// configFile is a configuration in a file.
type configFile struct {
	// name of the file, - for standard input.
	name string
	data map[string]string
	// lines are where the texts of the keys begin in the file, from 1; 0 when a text does not stand there as it is.
	lines map[string]int
}

// readConfigFile reads a ConfigMap, or its data alone: keys with their documents as text or spelled out. Of several
// documents the one that is slo-controller-config counts.
func readConfigFile(s *session, name string) (*configFile, error) {
	in := s.Streams.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the configuration: %w", err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxConfigFile+1))
	if err != nil {
		return nil, fmt.Errorf("read file %q: %w", name, err)
	}
	if len(text) > maxConfigFile {
		return nil, fmt.Errorf("read file %q: it is larger than %d bytes", name, maxConfigFile)
	}
	data, err := parseConfigFile(text)
	if err != nil {
		return nil, fmt.Errorf("read file %q: %w", name, err)
	}
	return &configFile{name: name, data: data, lines: textLines(string(text), data)}, nil
}

func parseConfigFile(text []byte) (map[string]string, error) {
	var only map[string]string
	found := 0
	for _, document := range splitDocuments(text) {
		var content map[string]any
		if err := yaml.Unmarshal(document, &content); err != nil {
			return nil, fmt.Errorf("not YAML: %w", err)
		}
		if len(content) == 0 {
			continue
		}
		if kind, ok := content["kind"].(string); ok && kind != "ConfigMap" {
			continue
		}
		data, name, err := dataOf(document, content)
		if err != nil {
			return nil, err
		}
		if name == configuration.DefaultConfigMapName {
			return data, nil
		}
		only, found = data, found+1
	}
	if found != 1 {
		return nil, errors.New("it must hold ConfigMap slo-controller-config, or its data alone")
	}
	return only, nil
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

// dataOf reads the data of a document, and the name if it is a ConfigMap.
func dataOf(document []byte, content map[string]any) (map[string]string, string, error) {
	if content["kind"] != nil {
		object := &corev1.ConfigMap{}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			return nil, "", fmt.Errorf("not a ConfigMap: %w", err)
		}
		return object.Data, object.Name, nil
	}
	data := map[string]string{}
	for key, value := range content {
		if text, ok := value.(string); ok {
			data[key] = text
			continue
		}
		encoded, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return nil, "", fmt.Errorf("encode key %q: %w", key, err)
		}
		data[key] = string(encoded)
	}
	return data, "", nil
}

// textLines finds where block texts begin: the line after KEY: |, if the text that follows is that of the key.
func textLines(text string, data map[string]string) map[string]int {
	out := map[string]int{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		key, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if rest = strings.TrimSpace(rest); !ok || !strings.HasPrefix(rest, "|") || i+1 >= len(lines) {
			continue
		}
		key = strings.Trim(key, `"'`)
		first, _, _ := strings.Cut(data[key], "\n")
		if _, known := data[key]; known && strings.TrimSpace(first) == strings.TrimSpace(lines[i+1]) {
			out[key] = i + 2
		}
	}
	return out
}
