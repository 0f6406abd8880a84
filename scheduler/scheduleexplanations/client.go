package scheduleexplanations

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/scheduler/informer"
)

// Resource is what is watched.
var Resource = schema.GroupVersionResource{Group: schedulingv1alpha1.GroupVersion.Group, Version: schedulingv1alpha1.GroupVersion.Version, Resource: "scheduleexplanations"}

var kind = informer.Kind{
	Resource: Resource, Object: &schedulingv1alpha1.ScheduleExplanation{}, Register: schedulingv1alpha1.AddToScheme,
	Absent: "Nobody can ask for explanations by objects until it is; koordctl explain pod works without",
}

// writer changes objects in the cluster.
type writer interface {
	// writeStatus replaces the status of an object. That somebody changed the object since it was read is a Conflict.
	writeStatus(ctx context.Context, object *schedulingv1alpha1.ScheduleExplanation) error
	// remove deletes exactly this object, not another of the same name.
	remove(ctx context.Context, object *schedulingv1alpha1.ScheduleExplanation) error
}

// restWriter is the writer over the API server.
type restWriter struct{ client rest.Interface }

func newRESTWriter(config *rest.Config) (restWriter, error) {
	scheme := runtime.NewScheme()
	if err := schedulingv1alpha1.AddToScheme(scheme); err != nil {
		return restWriter{}, fmt.Errorf("register the types of %s: %w", Resource.Resource, err)
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	typed := rest.CopyConfig(rest.AddUserAgent(config, "scheduler-"+Resource.Resource))
	version := Resource.GroupVersion()
	typed.GroupVersion, typed.APIPath = &version, "/apis"
	typed.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	typed.ContentType, typed.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.RESTClientFor(typed)
	if err != nil {
		return restWriter{}, fmt.Errorf("create a client for %s: %w", Resource.Resource, err)
	}
	return restWriter{client: client}, nil
}

// writeStatus implements writer.
func (w restWriter) writeStatus(ctx context.Context, object *schedulingv1alpha1.ScheduleExplanation) error {
	return w.client.Put().Namespace(object.Namespace).Resource(Resource.Resource).Name(object.Name).SubResource("status").Body(object).Do(ctx).Error()
}

// remove implements writer.
func (w restWriter) remove(ctx context.Context, object *schedulingv1alpha1.ScheduleExplanation) error {
	return w.client.Delete().Namespace(object.Namespace).Resource(Resource.Resource).Name(object.Name).
		Body(&metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &object.UID}}).Do(ctx).Error()
}
