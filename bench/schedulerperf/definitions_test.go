package schedulerperf

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/kubernetes/test/utils/ktesting"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/deploy"
)

var definitionResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// createDefinitions creates the chart's custom resource definitions and waits until they are served.
func createDefinitions(tCtx ktesting.TContext) error {
	chart, err := deploy.Chart()
	if err != nil {
		return err
	}
	files, err := fs.Glob(chart, "crds/*.yaml")
	if err != nil {
		return err
	}
	var names []string
	for _, file := range files {
		name, err := createDefinition(tCtx, chart, file)
		if err != nil {
			return fmt.Errorf("create the definition in %s: %w", file, err)
		}
		names = append(names, name)
	}
	return wait.PollUntilContextTimeout(tCtx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		for _, name := range names {
			definition, err := tCtx.Dynamic().Resource(definitionResource).Get(ctx, name, metav1.GetOptions{})
			if err != nil || !established(definition) {
				return false, err
			}
		}
		return true, nil
	})
}

func createDefinition(tCtx ktesting.TContext, chart fs.FS, file string) (name string, err error) {
	text, err := fs.ReadFile(chart, file)
	if err != nil {
		return "", err
	}
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &definition.Object); err != nil {
		return "", err
	}
	_, err = tCtx.Dynamic().Resource(definitionResource).Create(tCtx, definition, metav1.CreateOptions{})
	return definition.GetName(), err
}

func established(definition *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions") // none is false
	for _, c := range conditions {
		if condition, ok := c.(map[string]any); ok && condition["type"] == "Established" && condition["status"] == "True" {
			return true
		}
	}
	return false
}
