package cluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/sandbox/pki"
)

// schedulerConfigName is the ConfigMap, and the key in it, of the scheduler's configuration.
const schedulerConfigName = "koord-scheduler-config"

// SchedulerConfig returns the scheduler's configuration as the chart installed it, for a scheduler that reaches the API
// server with a kubeconfig: one in the cluster is given none.
func (c *Cluster) SchedulerConfig(ctx context.Context, kubeconfig string) ([]byte, error) {
	object, err := c.client.CoreV1().ConfigMaps(pki.Namespace).Get(ctx, schedulerConfigName, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %q: %w", schedulerConfigName, err)
	}
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(object.Data[schedulerConfigName]), &config); err != nil {
		return nil, fmt.Errorf("parse ConfigMap %q: %w", schedulerConfigName, err)
	}
	if err := unstructured.SetNestedField(config, kubeconfig, "clientConnection", "kubeconfig"); err != nil {
		return nil, fmt.Errorf("complete ConfigMap %q: %w", schedulerConfigName, err)
	}
	data, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encode the scheduler's configuration: %w", err)
	}
	return data, nil
}
