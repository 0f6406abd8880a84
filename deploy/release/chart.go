package release

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"koordinator.sh/koord/deploy"
)

// chartName distinguishes this system's releases from others of the same name.
const chartName = "koordinator"

// definitionsFolder holds the custom resource definitions inside the chart.
const definitionsFolder = "crds/"

// loadChart reads the embedded chart. Definitions are left out: they are applied apart, and would otherwise be copied
// into every revision that Helm stores in the cluster, where a Secret holds 1 MiB at most.
func loadChart() (*chart.Chart, error) {
	files, err := chartFiles(func(name string) bool { return !strings.HasPrefix(name, definitionsFolder) })
	if err != nil {
		return nil, err
	}
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return nil, fmt.Errorf("load the embedded chart: %w", err)
	}
	return loaded, nil
}

// Definitions are the custom resource definitions of the chart.
func Definitions() ([]*unstructured.Unstructured, error) {
	files, err := chartFiles(func(name string) bool { return strings.HasPrefix(name, definitionsFolder) })
	if err != nil {
		return nil, err
	}
	var definitions []*unstructured.Unstructured
	for _, file := range files {
		objects, err := decodeManifest(file.Data)
		if err != nil {
			return nil, fmt.Errorf("read %q of the embedded chart: %w", file.Name, err)
		}
		definitions = append(definitions, objects...)
	}
	return definitions, nil
}

func chartFiles(wanted func(name string) bool) ([]*archive.BufferedFile, error) {
	root, err := deploy.Chart()
	if err != nil {
		return nil, err
	}
	var files []*archive.BufferedFile
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !wanted(name) {
			return err
		}
		data, err := fs.ReadFile(root, name)
		files = append(files, &archive.BufferedFile{Name: name, ModTime: time.Time{}, Data: data})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the embedded chart: %w", err)
	}
	return files, nil
}

// decodeManifest splits a stream of YAML documents into objects; empty documents are skipped.
func decodeManifest(manifest []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	var objects []*unstructured.Unstructured
	for {
		var object unstructured.Unstructured
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode document %d: %w", len(objects)+1, err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, &object)
		}
	}
}

// DefinitionNames lists the custom resource definitions of the chart.
func DefinitionNames() ([]string, error) {
	definitions, err := Definitions()
	names := make([]string, 0, len(definitions))
	for _, definition := range definitions {
		names = append(names, definition.GetName())
	}
	return names, err
}
