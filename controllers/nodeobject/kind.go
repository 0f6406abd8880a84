package nodeobject

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"koordinator.sh/koord/decision/core/configmerge"
)

// FieldManager is the field manager of the objects.
const FieldManager = "koord-manager"

// Kind defines one kind of node objects. All fields are required. The functions are pure and safe for
// concurrent use; objects they are given come from a cache and must not be modified.
type Kind[T client.Object] struct {
	// Name of the controller and, in errors, of the kind: nodemetric.
	Name string
	// New returns an empty object.
	New func() T
	// Want is the counterpart of a node, with nothing but its name and spec; it may share memory with the configuration.
	// Clean is false when a layer of the configuration had to be left out.
	Want func(config configmerge.Config, node *corev1.Node) (want T, clean bool)
	// Patch is the JSON merge patch that brings an object in line with what is wanted; nil when it is. A patch that names a
	// resourceVersion is calculated again when the object has another one.
	Patch func(existing, want T) ([]byte, error)
	// Keys of the configuration that what is wanted comes from.
	Keys []string
	// NodeChanged passes the updates of a node that can change what is wanted.
	NodeChanged predicate.Predicate
	// Metrics counts outcomes.
	Metrics *Metrics
}

// named is the object with the name of its node and nothing else, the target of a write.
func (k Kind[T]) named(name string) T {
	object := k.New()
	object.SetName(name)
	return object
}

// uncopied reads from the cache without copying; what is read must not be modified.
var uncopied = &client.GetOptions{UnsafeDisableDeepCopy: new(true)}

func keyOf(name string) client.ObjectKey { return types.NamespacedName{Name: name} }
