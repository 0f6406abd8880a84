package kubectlplugin

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// diagnosticsType is the type of an answer that this program makes itself.
func diagnosticsType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: kind}
}

// objectOf makes a result an object with kind and name, like every other answer.
func objectOf(kind, name string, result any) (*unstructured.Unstructured, error) {
	content, err := contentOf(result)
	if err != nil {
		return nil, fmt.Errorf("encode %s %q: %w", kind, name, err)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(diagnosticsv1alpha1.GroupVersion.WithKind(kind))
	object.SetName(name)
	return object, nil
}

func contentOf(result any) (map[string]any, error) {
	data, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	content := map[string]any{}
	return content, json.Unmarshal(data, &content)
}

// listOf makes results the items of a list. What holds for the list as a whole stands beside the items.
func listOf[T any](kind string, items []T, name func(*T) string, whole any) (*unstructured.UnstructuredList, error) {
	content, err := contentOf(whole)
	if err != nil {
		return nil, fmt.Errorf("encode %sList: %w", kind, err)
	}
	list := &unstructured.UnstructuredList{Object: content, Items: []unstructured.Unstructured{}}
	list.SetGroupVersionKind(diagnosticsv1alpha1.GroupVersion.WithKind(kind + "List"))
	for i := range items {
		item, err := objectOf(kind, name(&items[i]), &items[i])
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, *item)
	}
	return list, nil
}
