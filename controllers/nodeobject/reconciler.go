package nodeobject

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/controllers/sloconfig"
)

// Reconciler manages the objects of one kind. It is safe for concurrent use, one node at a time.
type Reconciler[T client.Object] struct {
	kind   Kind[T]
	client client.Client
	config *sloconfig.Store
}

// NewReconciler returns a reconciler over a client that reads from a cache.
func NewReconciler[T client.Object](kind Kind[T], c client.Client, config *sloconfig.Store) *Reconciler[T] {
	return &Reconciler[T]{kind: kind, client: c, config: config}
}

// conflictRetry is the requeue delay of a node whose object is newer than the cache.
const conflictRetry = 50 * time.Millisecond

// Reconcile updates the object of one node to the configuration, or deletes it with its node.
func (r *Reconciler[T]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	err := r.reconcile(ctx, request.Name)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: conflictRetry}, nil
	}
	r.kind.Metrics.reconciled(err)
	return reconcile.Result{}, err
}

func (r *Reconciler[T]) reconcile(ctx context.Context, name string) error {
	node := &corev1.Node{}
	err := r.client.Get(ctx, keyOf(name), node, uncopied)
	if apierrors.IsNotFound(err) {
		return r.remove(ctx, name)
	}
	if err != nil {
		return fmt.Errorf("get node %q: %w", name, err)
	}
	config, loaded := r.config.Config()
	if !loaded {
		// Loading the configuration enqueues every node again.
		return nil
	}
	want, clean := r.kind.Want(config, node)
	r.kind.Metrics.derived(clean)
	existing := r.kind.New()
	err = r.client.Get(ctx, keyOf(name), existing, uncopied)
	if apierrors.IsNotFound(err) {
		return r.create(ctx, want)
	}
	if err != nil {
		return fmt.Errorf("get %s %q: %w", r.kind.Name, name, err)
	}
	return r.patch(ctx, existing, want)
}

// remove deletes the object of a deleted node.
func (r *Reconciler[T]) remove(ctx context.Context, name string) error {
	existing := r.kind.New()
	err := r.client.Get(ctx, keyOf(name), existing, uncopied)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get %s %q: %w", r.kind.Name, name, err)
	}
	uid := existing.GetUID()
	err = r.client.Delete(ctx, r.kind.named(name), client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s %q: %w", r.kind.Name, name, err)
	}
	return nil
}

func (r *Reconciler[T]) create(ctx context.Context, want T) error {
	name := want.GetName()
	// The answer is decoded into what is sent, which must not reach the configuration.
	sent, ok := want.DeepCopyObject().(T)
	if !ok {
		return fmt.Errorf("create %s %q: unexpected type %T", r.kind.Name, name, sent)
	}
	err := r.client.Create(ctx, sent, client.FieldOwner(FieldManager))
	// Already there means that the cache lags; its event brings the node back.
	if client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("create %s %q: %w", r.kind.Name, name, err)
	}
	return nil
}

func (r *Reconciler[T]) patch(ctx context.Context, existing, want T) error {
	name := want.GetName()
	body, err := r.kind.Patch(existing, want)
	if err != nil {
		return fmt.Errorf("compare %s %q: %w", r.kind.Name, name, err)
	}
	if body == nil {
		return nil
	}
	err = r.client.Patch(ctx, r.kind.named(name), client.RawPatch(types.MergePatchType, body), client.FieldOwner(FieldManager))
	if err != nil {
		return fmt.Errorf("patch %s %q: %w", r.kind.Name, name, err)
	}
	return nil
}
