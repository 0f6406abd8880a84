package report

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// metadataOnly asks the API server to answer a write with the object's metadata, of which nothing is read either, and
// not with the whole object it was just sent.
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// Writer writes the status of NodeMetrics. It is safe for concurrent use.
type Writer struct {
	client rest.Interface
}

// NewWriter returns a Writer over a client of the group slo.koordinator.sh/v1alpha1.
func NewWriter(client rest.Interface) *Writer { return &Writer{client: client} }

// WriteConditions makes the conditions of a NodeMetric say what they should, and leaves what was measured as it is.
func (w *Writer) WriteConditions(ctx context.Context, name string, conditions []metav1.Condition) error {
	body, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions}})
	if err != nil {
		return fmt.Errorf("encode conditions of NodeMetric %q: %w", name, err)
	}
	return w.patch(ctx, name, body)
}

// Write makes the status of a NodeMetric say what was measured. It does not create NodeMetrics: that is the manager's.
func (w *Writer) Write(ctx context.Context, name string, status *slov1alpha1.NodeMetricStatus) error {
	patch, err := Patch(status)
	if err != nil {
		return err
	}
	return w.patch(ctx, name, patch)
}

func (w *Writer) patch(ctx context.Context, name string, patch []byte) error {
	err := w.client.Patch(types.MergePatchType).
		Resource("nodemetrics").Name(name).SubResource("status").
		SetHeader("Accept", metadataOnly).
		Body(patch).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("report NodeMetric %q: %w", name, err)
	}
	return nil
}
