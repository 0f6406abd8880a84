package nodeslo

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
)

// fieldManager is the name under which the manager writes.
const fieldManager = "koord-manager"

// uncopied reads from the cache without copying; what is read must not be modified.
var uncopied = &client.GetOptions{UnsafeDisableDeepCopy: new(true)}

type reconciler struct {
	client client.Client
	config *sloconfig.Store
}

// Reconcile brings the NodeSLO of one node in line with the configuration, or deletes it with its node.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	err := r.reconcile(ctx, request.Name)
	count(err)
	return reconcile.Result{}, err
}

func (r *reconciler) reconcile(ctx context.Context, name string) error {
	node := &corev1.Node{}
	err := r.client.Get(ctx, types.NamespacedName{Name: name}, node, uncopied)
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
	want := config.NodeSLOSpec(node)
	countParse()
	slo := &slov1alpha1.NodeSLO{}
	err = r.client.Get(ctx, types.NamespacedName{Name: name}, slo, uncopied)
	if apierrors.IsNotFound(err) {
		return r.create(ctx, name, want)
	}
	if err != nil {
		return fmt.Errorf("get nodeslo %q: %w", name, err)
	}
	want.Extensions = slo.Spec.Extensions
	if equality.Semantic.DeepEqual(slo.Spec, want) {
		return nil
	}
	return r.patch(ctx, slo, want)
}

// remove deletes the NodeSLO of a node that is gone.
func (r *reconciler) remove(ctx context.Context, name string) error {
	slo := &slov1alpha1.NodeSLO{}
	err := r.client.Get(ctx, types.NamespacedName{Name: name}, slo, uncopied)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get nodeslo %q: %w", name, err)
	}
	gone := &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := r.client.Delete(ctx, gone, client.Preconditions{UID: &slo.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete nodeslo %q: %w", name, err)
	}
	return nil
}

func (r *reconciler) create(ctx context.Context, name string, spec slov1alpha1.NodeSLOSpec) error {
	slo := &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *spec.DeepCopy()}
	err := r.client.Create(ctx, slo, client.FieldOwner(fieldManager))
	// Already there means that the cache lags; its event brings the node back.
	if client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("create nodeslo %q: %w", name, err)
	}
	return nil
}

// patch writes the difference between the two specs as this version knows them.
func (r *reconciler) patch(ctx context.Context, slo *slov1alpha1.NodeSLO, spec slov1alpha1.NodeSLOSpec) error {
	changed := slo.DeepCopy()
	changed.Spec = *spec.DeepCopy()
	patch := client.MergeFrom(slo)
	body, err := patch.Data(changed)
	if err != nil {
		return fmt.Errorf("compare nodeslo %q: %w", slo.Name, err)
	}
	if string(body) == "{}" {
		return nil
	}
	target := &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: slo.Name}}
	if err := r.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("patch nodeslo %q: %w", slo.Name, err)
	}
	return nil
}
