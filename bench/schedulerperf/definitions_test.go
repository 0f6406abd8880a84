package schedulerperf

import (
	"context"
	"fmt"
	"io/fs"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/kubernetes/test/utils/ktesting"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/deploy"
)

var definitionResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// createDefinitions creates the chart's custom resource definitions and waits until the API server serves them, and says so: the
// engine looks for every kind in discovery, which an established definition reaches up to some seconds later on a busy machine,
// and gives the workload up when it is not there.
func createDefinitions(tCtx ktesting.TContext) error {
	chart, err := deploy.Chart()
	if err != nil {
		return err
	}
	files, err := fs.Glob(chart, "crds/*.yaml")
	if err != nil {
		return err
	}
	var definitions []*unstructured.Unstructured
	for _, file := range files {
		definition, err := createDefinition(tCtx, chart, file)
		if err != nil {
			return fmt.Errorf("create the definition in %s: %w", file, err)
		}
		definitions = append(definitions, definition)
	}
	return poll(tCtx, func(ctx context.Context) error {
		for _, definition := range definitions {
			current, err := tCtx.Dynamic().Resource(definitionResource).Get(ctx, definition.GetName(), metav1.GetOptions{})
			if err != nil {
				return fmt.Errorf("get definition %s: %w", definition.GetName(), err)
			}
			if !established(current) {
				return fmt.Errorf("definition %s is not established", definition.GetName())
			}
		}
		return discovered(tCtx.Client().Discovery(), definitions)
	})
}

// discovered is nil when discovery lists every version of the definitions that is served.
func discovered(client discovery.DiscoveryInterface, definitions []*unstructured.Unstructured) error {
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return fmt.Errorf("discover what is served: %w", err)
	}
	served := sets.New[string]()
	for _, list := range lists {
		for i := range list.APIResources {
			served.Insert(list.GroupVersion + " " + list.APIResources[i].Name)
		}
	}
	for _, definition := range definitions {
		for _, kind := range kindsOf(definition) {
			if !served.Has(kind) {
				return fmt.Errorf("discovery does not show %s", kind)
			}
		}
	}
	return nil
}

// kindsOf names the served versions of a definition, "GROUP/VERSION RESOURCE".
func kindsOf(definition *unstructured.Unstructured) []string {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group") // the API server took it, so they are there
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	var kinds []string
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok && version["served"] == true {
			kinds = append(kinds, fmt.Sprintf("%s/%s %s", group, version["name"], plural))
		}
	}
	return kinds
}

func createDefinition(tCtx ktesting.TContext, chart fs.FS, file string) (*unstructured.Unstructured, error) {
	text, err := fs.ReadFile(chart, file)
	if err != nil {
		return nil, err
	}
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &definition.Object); err != nil {
		return nil, err
	}
	return tCtx.Dynamic().Resource(definitionResource).Create(tCtx, definition, metav1.CreateOptions{})
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
