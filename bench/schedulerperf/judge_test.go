package schedulerperf

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/test/utils/ktesting"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/scheduler/state/devices"
	"koordinator.sh/koord/scheduler/state/reservations"
	"koordinator.sh/koord/scheduler/state/topologies"
	"koordinator.sh/koord/test/invariants"
)

// judge returns what is wrong with the cluster: throughput does not count when room was given away twice.
func (c *cluster) judge(ctx context.Context, tCtx ktesting.TContext) error {
	nodes, err := snapshot(ctx, tCtx)
	if err != nil {
		return err
	}
	var errs []error
	onReserved := 0
	for i, node := range nodes {
		if c.reporter.isHot(i) && len(node.Pods) > 0 {
			errs = append(errs, fmt.Errorf("node %s is hot and got %d pods", node.Name, len(node.Pods)))
		}
		for _, violation := range violations(node) {
			errs = append(errs, fmt.Errorf("%v", violation))
		}
		for _, pod := range node.Pods {
			if pod.Annotations[extension.AnnotationReservationAllocated] != "" {
				onReserved++
			}
		}
	}
	if onReserved < c.reserved {
		errs = append(errs, fmt.Errorf("%d pods are on reserved room, want %d", onReserved, c.reserved))
	}
	return errors.Join(errs[:min(10, len(errs))]...)
}

func violations(node *invariants.Node) []invariants.Violation {
	found := node.WithinAllocatable(nil)
	found = append(found, node.WithinZones(nil)...)
	found = append(found, node.WithinDevices(nil)...)
	found = append(found, node.CPUsOwnedOnce()...)
	found = append(found, node.DevicesOwnedOnce()...)
	for _, pod := range node.Pods {
		found = append(found, node.CPUsAgree(pod)...)
		found = append(found, node.DevicesAgree(pod)...)
		found = append(found, node.WithinPolicy(pod)...)
	}
	return found
}

// snapshot is the nodes in the order of their names, with what is on them.
func snapshot(ctx context.Context, tCtx ktesting.TContext) ([]*invariants.Node, error) {
	list, err := tCtx.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	pods, err := tCtx.Client().CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	var nodes []*invariants.Node
	byName := map[string]*invariants.Node{}
	for i := range list.Items {
		node := &invariants.Node{Name: list.Items[i].Name, Object: &list.Items[i]}
		nodes, byName[node.Name] = append(nodes, node), node
	}
	for i := range pods.Items {
		if node := byName[pods.Items[i].Spec.NodeName]; node != nil {
			node.Pods = append(node.Pods, &pods.Items[i])
		}
	}
	return nodes, addObjects(ctx, tCtx, byName)
}

// addObjects adds what custom resources say of the nodes.
func addObjects(ctx context.Context, tCtx ktesting.TContext, nodes map[string]*invariants.Node) error {
	err := each(ctx, tCtx, topologies.Resource, func(topology *topologyv1alpha1.NodeResourceTopology) {
		if node := nodes[topology.Name]; node != nil {
			node.Topology = topology
		}
	})
	if err != nil {
		return err
	}
	err = each(ctx, tCtx, devices.Resource, func(device *schedulingv1alpha1.Device) {
		if node := nodes[device.Name]; node != nil {
			node.Device = device
		}
	})
	if err != nil {
		return err
	}
	return each(ctx, tCtx, reservations.Resource, func(reservation *schedulingv1alpha1.Reservation) {
		if node := nodes[reservation.Status.NodeName]; node != nil && reservation.Status.Phase == schedulingv1alpha1.ReservationAvailable {
			node.Reservations = append(node.Reservations, reservation)
		}
	})
}

// each calls visit for every object of a resource.
func each[T any](ctx context.Context, tCtx ktesting.TContext, kind schema.GroupVersionResource, visit func(*T)) error {
	list, err := tCtx.Dynamic().Resource(kind).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list %s: %w", kind.Resource, err)
	}
	for i := range list.Items {
		object := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, object); err != nil {
			return fmt.Errorf("read %s %q: %w", kind.Resource, list.Items[i].GetName(), err)
		}
		visit(object)
	}
	return nil
}
