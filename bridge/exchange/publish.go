package exchange

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/bridge/engine"
)

// FieldManager is the name under which annotations of nodes are written.
const FieldManager = "koord-bridge"

// allocationName names the allocations of an engine: its kind, and the cluster where that has a name of its own.
func (x *Exchange) allocationName() string {
	if cluster := x.engine.Cluster(); !x.isDefault(cluster) {
		return x.engine.Name() + "/" + cluster
	}
	return x.engine.Name()
}

func (*Exchange) isDefault(cluster string) bool { return len(cluster) > 2 && cluster[:2] == "__" }

// allocations reads what this engine and others have taken of batch, as Kubernetes counts it.
func (x *Exchange) allocations(node *corev1.Node) (own, others engine.Amount, err error) {
	published, err := extension.GetThirdPartyAllocations(node.Annotations)
	if err != nil || published == nil {
		return own, others, err
	}
	for _, one := range published.Allocations {
		switch {
		case one.Priority != extension.PriorityBatch:
		case one.Name == x.allocationName():
			own = own.Add(batchOf(one.Resources))
		default:
			others = others.Add(batchOf(one.Resources))
		}
	}
	return own, others, nil
}

// publish writes what this engine has taken of a node. What others have taken stays.
func (x *Exchange) publish(ctx context.Context, node *corev1.Node, taken engine.Amount) error {
	published, err := extension.GetThirdPartyAllocations(node.Annotations)
	if err != nil {
		return err
	}
	next := &extension.ThirdPartyAllocations{}
	if published != nil {
		for _, one := range published.Allocations {
			if one.Name != x.allocationName() || one.Priority != extension.PriorityBatch {
				next.Allocations = append(next.Allocations, one)
			}
		}
	}
	if taken != (engine.Amount{}) {
		next.Allocations = append(next.Allocations, extension.ThirdPartyAllocation{
			Name: x.allocationName(), Priority: extension.PriorityBatch,
			Resources: corev1.ResourceList{
				extension.BatchCPU:    *resource.NewQuantity(taken.MilliCPU, resource.DecimalSI),
				extension.BatchMemory: *resource.NewQuantity(taken.Memory, resource.BinarySI),
			},
		})
	}
	return x.patch(ctx, node, next)
}

// patch writes the annotation on the node as it was read. A node that has changed meanwhile is left to the next round.
func (x *Exchange) patch(ctx context.Context, node *corev1.Node, next *extension.ThirdPartyAllocations) error {
	var value any
	if len(next.Allocations) > 0 {
		encoded, err := json.Marshal(next)
		if err != nil {
			return fmt.Errorf("encode the allocations of node %q: %w", node.Name, err)
		}
		value = string(encoded)
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": node.ResourceVersion,
		"annotations":     map[string]any{extension.AnnotationNodeThirdPartyAllocations: value},
	}})
	if err != nil {
		return fmt.Errorf("encode the allocations of node %q: %w", node.Name, err)
	}
	target := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name}}
	err = x.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(FieldManager))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		x.Wake()
		return nil
	}
	if err != nil {
		return fmt.Errorf("write what %s has taken of node %q: %w", x.engine.Name(), node.Name, err)
	}
	return nil
}
