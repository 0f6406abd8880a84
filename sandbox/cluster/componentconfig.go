package cluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/sandbox/pki"
)

// ComponentConfig returns the configuration of a component as the chart installed it, in the ConfigMap and key of a name, for a
// component that reaches the API server with a kubeconfig: one in the cluster is given none.
func (c *Cluster) ComponentConfig(ctx context.Context, name, kubeconfig string) ([]byte, error) {
	object, err := c.client.CoreV1().ConfigMaps(pki.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %q: %w", name, err)
	}
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(object.Data[name]), &config); err != nil {
		return nil, fmt.Errorf("parse ConfigMap %q: %w", name, err)
	}
	if err := unstructured.SetNestedField(config, kubeconfig, "clientConnection", "kubeconfig"); err != nil {
		return nil, fmt.Errorf("complete ConfigMap %q: %w", name, err)
	}
	data, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encode the configuration of ConfigMap %q: %w", name, err)
	}
	return data, nil
}
