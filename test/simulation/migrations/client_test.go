package migrations

import (
	"context"
	"errors"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

var (
	errKilled = errors.New("the process was killed")
	errLost   = errors.New("the connection to the API server was lost")
)

// connection is the client of one process. Reads of the cache are answered at once. All else waits for a step of the seed, which says
// whether the request comes through and whether its answer does.
type connection struct {
	client.Client
	world *world
	// cache of the process; nil for the client that reads past it.
	cache func() *snapshot
	// wait hands over to the seed; false when the process is killed.
	wait func(request string) bool
	dead *bool
}

// request runs a request, or loses it, or its answer.
func (c *connection) request(name string, do func() error) error {
	if *c.dead || !c.wait(name) {
		*c.dead = true
		return errKilled
	}
	switch c.world.fault() {
	case requestLost:
		c.world.note("%s is lost", name)
		return errLost
	case answerLost:
		err := do()
		c.world.note("%s is done (%v), its answer is lost", name, err)
		return errLost
	}
	err := do()
	c.world.note("%s: %v", name, err)
	return err
}

func (c *connection) read(do func(*snapshot) error) error {
	if c.cache != nil {
		return do(c.cache())
	}
	return c.request("read", func() error { return do(c.world.server.present()) })
}

// Get reads one object.
func (c *connection) Get(_ context.Context, name client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	return c.read(func(objects *snapshot) error {
		kind := reflect.TypeOf(object).Elem().Name()
		if partial, is := object.(*metav1.PartialObjectMetadata); is {
			kind = partial.Kind
		}
		found := objects.objects[key{kind: kind, namespace: name.Namespace, name: name.Name}]
		if found == nil {
			return apierrors.NewNotFound(anyResource, name.Name)
		}
		if partial, is := object.(*metav1.PartialObjectMetadata); is {
			partial.ObjectMeta = metav1.ObjectMeta{Name: found.GetName(), Namespace: found.GetNamespace(), UID: found.GetUID(), OwnerReferences: found.GetOwnerReferences()}
			return nil
		}
		reflect.ValueOf(object).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
		return nil
	})
}

// List lists jobs, pods or reservations.
func (c *connection) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	return c.read(func(objects *snapshot) error {
		switch list := list.(type) {
		case *schedulingv1alpha1.PodMigrationJobList:
			list.Items = nil
			for _, object := range objects.sorted("PodMigrationJob", "") {
				list.Items = append(list.Items, *object.DeepCopyObject().(*schedulingv1alpha1.PodMigrationJob))
			}
		case *corev1.PodList:
			list.Items = nil
			for _, object := range objects.sorted("Pod", asked.Namespace) {
				list.Items = append(list.Items, *object.(*corev1.Pod))
			}
		case *schedulingv1alpha1.ReservationList:
			list.Items = nil
			for _, object := range objects.sorted("Reservation", "") {
				if asked.LabelSelector == nil || asked.LabelSelector.Matches(labels.Set(object.GetLabels())) {
					list.Items = append(list.Items, *object.DeepCopyObject().(*schedulingv1alpha1.Reservation))
				}
			}
		default:
			return errors.New("only jobs, pods and reservations are listed")
		}
		return nil
	})
}

// Create creates an object.
func (c *connection) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	return c.request("create "+object.GetName(), func() error { return c.world.server.create(object) })
}

// Update replaces an object.
func (c *connection) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return c.request("update "+object.GetName(), func() error { return c.world.server.update(object) })
}

// Patch is given the whole object with the resource version that it was read with. The patches of the arbitrator have it as a
// precondition, which this holds them to.
func (c *connection) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return c.request("patch "+object.GetName(), func() error { return c.patch(object, patch) })
}

func (c *connection) patch(object client.Object, patch client.Patch) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	if object.GetResourceVersion() == "" || !containsVersion(data, object.GetResourceVersion()) {
		return errors.New("the patch has no resource version")
	}
	return c.world.server.update(object)
}

// Status writes the status of objects.
func (c *connection) Status() client.SubResourceWriter { return &statusWriter{connection: c} }

type statusWriter struct {
	client.SubResourceWriter
	connection *connection
}

// Patch patches a status.
func (w *statusWriter) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	return w.connection.request("patch status of "+object.GetName(), func() error { return w.connection.patch(object, patch) })
}
