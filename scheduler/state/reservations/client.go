package reservations

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/client-go/rest"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Writer changes Reservations in the cluster. It is safe for concurrent use.
type Writer interface {
	// Get reads a Reservation.
	Get(ctx context.Context, name string) (*schedulingv1alpha1.Reservation, error)
	// Annotate adds annotations, on the condition that the Reservation is the same object.
	Annotate(ctx context.Context, object *schedulingv1alpha1.Reservation, annotations map[string]string) (*schedulingv1alpha1.Reservation, error)
	// WriteStatus writes a status, on the condition that the Reservation has not changed; it is a conflict otherwise.
	WriteStatus(ctx context.Context, object *schedulingv1alpha1.Reservation, status *schedulingv1alpha1.ReservationStatus) error
	// Delete deletes a Reservation, on the condition that it is the same object.
	Delete(ctx context.Context, object *schedulingv1alpha1.Reservation) error
}

type client struct{ rest rest.Interface }

// NewWriter returns a Writer for the cluster that config reaches.
func NewWriter(config *rest.Config) (Writer, error) {
	scheme := runtime.NewScheme()
	if err := schedulingv1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register the types of reservations: %w", err)
	}
	metav1.AddToGroupVersion(scheme, metav1.Unversioned)
	typed := rest.CopyConfig(rest.AddUserAgent(config, "scheduler-reservations"))
	version := Resource.GroupVersion()
	typed.GroupVersion, typed.APIPath = &version, "/apis"
	typed.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	typed.ContentType, typed.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	connection, err := rest.RESTClientFor(typed)
	if err != nil {
		return nil, fmt.Errorf("create a client for reservations: %w", err)
	}
	return &client{rest: connection}, nil
}

// Get implements Writer.
func (c *client) Get(ctx context.Context, name string) (*schedulingv1alpha1.Reservation, error) {
	found := &schedulingv1alpha1.Reservation{}
	if err := c.rest.Get().Resource(Resource.Resource).Name(name).Do(ctx).Into(found); err != nil {
		return nil, fmt.Errorf("read reservation %s: %w", name, err)
	}
	return found, nil
}

// Annotate implements Writer.
func (c *client) Annotate(ctx context.Context, object *schedulingv1alpha1.Reservation, annotations map[string]string) (*schedulingv1alpha1.Reservation, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": object.UID, "annotations": annotations}})
	if err != nil {
		return nil, fmt.Errorf("encode the annotations of reservation %s: %w", object.Name, err)
	}
	changed := &schedulingv1alpha1.Reservation{}
	if err := c.rest.Patch(types.MergePatchType).Resource(Resource.Resource).Name(object.Name).Body(patch).Do(ctx).Into(changed); err != nil {
		return nil, fmt.Errorf("annotate reservation %s with its allocations: %w", object.Name, err)
	}
	return changed, nil
}

// WriteStatus implements Writer. It sends what differs, so that fields it does not know stay as they are.
func (c *client) WriteStatus(ctx context.Context, object *schedulingv1alpha1.Reservation, status *schedulingv1alpha1.ReservationStatus) error {
	patch, err := statusPatch(object, status)
	if err != nil {
		return fmt.Errorf("encode the status of reservation %s: %w", object.Name, err)
	}
	if err := c.rest.Patch(types.MergePatchType).Resource(Resource.Resource).Name(object.Name).SubResource("status").Body(patch).Do(ctx).Error(); err != nil {
		return fmt.Errorf("write the status of reservation %s: %w", object.Name, err)
	}
	return nil
}

func statusPatch(object *schedulingv1alpha1.Reservation, status *schedulingv1alpha1.ReservationStatus) ([]byte, error) {
	before, err := json.Marshal(map[string]any{"status": object.Status})
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return nil, err
	}
	difference, err := jsonmergepatch.CreateThreeWayJSONMergePatch(before, after, before)
	if err != nil {
		return nil, err
	}
	patch := map[string]any{}
	if err := json.Unmarshal(difference, &patch); err != nil {
		return nil, err
	}
	patch["metadata"] = map[string]any{"uid": object.UID, "resourceVersion": object.ResourceVersion}
	return json.Marshal(patch)
}

// Delete implements Writer.
func (c *client) Delete(ctx context.Context, object *schedulingv1alpha1.Reservation) error {
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &object.UID}}
	if err := c.rest.Delete().Resource(Resource.Resource).Name(object.Name).Body(options).Do(ctx).Error(); err != nil {
		return fmt.Errorf("delete reservation %s: %w", object.Name, err)
	}
	return nil
}
