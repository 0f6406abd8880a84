package report

import (
	"context"
	"fmt"

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

// Write makes the status of a NodeMetric say what was measured. It does not create NodeMetrics: that is the manager's.
func (w *Writer) Write(ctx context.Context, name string, status *slov1alpha1.NodeMetricStatus) error {
	patch, err := Patch(status)
	if err != nil {
		return err
	}
	err = w.client.Patch(types.MergePatchType).
		Resource("nodemetrics").Name(name).SubResource("status").
		SetHeader("Accept", metadataOnly).
		Body(patch).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("report NodeMetric %q: %w", name, err)
	}
	return nil
}
