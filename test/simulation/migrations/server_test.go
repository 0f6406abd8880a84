package migrations

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// key of an object: its type, namespace and name.
type key struct {
	kind            string
	namespace, name string
}

func keyOf(object client.Object) key {
	return key{kind: reflect.TypeOf(object).Elem().Name(), namespace: object.GetNamespace(), name: object.GetName()}
}

// snapshot is what the API server has at one moment. Its objects are never modified.
type snapshot struct {
	// number orders the moments.
	number  int
	objects map[key]client.Object
	// lists that were asked for, by kind and namespace.
	lists map[[2]string][]client.Object
}

func snapshotOf(objects map[key]client.Object) *snapshot {
	return &snapshot{objects: maps.Clone(objects), lists: map[[2]string][]client.Object{}}
}

// sorted are the objects of a kind in the order of their names.
func (s *snapshot) sorted(kind, namespace string) []client.Object {
	if list, made := s.lists[[2]string{kind, namespace}]; made {
		return list
	}
	var list []client.Object
	for k, object := range s.objects {
		if k.kind == kind && (namespace == "" || k.namespace == namespace) {
			list = append(list, object)
		}
	}
	slices.SortFunc(list, func(a, b client.Object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	s.lists[[2]string{kind, namespace}] = list
	return list
}

// server is the API server.
type server struct {
	objects map[key]client.Object
	version int
	created int
	moment  int
	// history are former moments, for caches that lag; the last is the present.
	history []*snapshot
}

// present is what the API server has now.
func (s *server) present() *snapshot { return s.history[len(s.history)-1] }

// moments of the history that are kept.
const moments = 12

func (s *server) written() {
	s.moment++
	now := snapshotOf(s.objects)
	now.number = s.moment
	s.history = append(s.history, now)
	if len(s.history) > moments {
		s.history = s.history[1:]
	}
}

func (s *server) put(object client.Object) {
	s.version++
	object.SetResourceVersion(strconv.Itoa(s.version))
	s.objects[keyOf(object)] = object.DeepCopyObject().(client.Object)
	s.written()
}

var anyResource = schema.GroupResource{Resource: "objects"}

func (s *server) create(object client.Object) error {
	if s.objects[keyOf(object)] != nil {
		return apierrors.NewAlreadyExists(anyResource, object.GetName())
	}
	s.created++
	object.SetUID(types.UID(fmt.Sprint("uid-", s.created)))
	s.put(object)
	return nil
}

// update compares resource versions as the API server does: an empty one is no precondition.
func (s *server) update(object client.Object) error {
	now := s.objects[keyOf(object)]
	switch {
	case now == nil:
		return apierrors.NewNotFound(anyResource, object.GetName())
	case object.GetResourceVersion() != "" && object.GetResourceVersion() != now.GetResourceVersion() || object.GetUID() != now.GetUID():
		return apierrors.NewConflict(anyResource, object.GetName(), fmt.Errorf("version %s is not %s", object.GetResourceVersion(), now.GetResourceVersion()))
	}
	s.put(object)
	return nil
}

func (s *server) delete(object client.Object) {
	delete(s.objects, keyOf(object))
	s.version++
	s.written()
}
