package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/koordmanager"
)

// Parts that are measured on the fleet.
const (
	partConvergence = "convergence"
	partSteady      = "steady"
	partPlan        = "plan"
	partForecast    = "forecast"
	partWrites      = "writes"
)

var (
	nodeMetricResource = slov1alpha1.GroupVersion.WithResource("nodemetrics")
	nodeSLOResource    = slov1alpha1.GroupVersion.WithResource("nodeslos")
)

// fleet is a cluster of nodes that report, with koord-manager at work.
type fleet struct {
	*controlplane.ControlPlane
	chosen  settings
	manager *koordManager
	// stopManager ends it, the first time.
	stopManager func() error
	ledger      *ledger
	// metadata reads and writes objects without reading what is in them, which would cost more than what is measured.
	metadata metadata.Interface
}

// measureFleet measures what depends on the number of nodes.
func measureFleet(ctx context.Context, chosen settings) (figures []figure, err error) {
	plane, err := controlplane.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plane.Stop(context.WithoutCancel(ctx))) }()
	f := &fleet{ControlPlane: plane, chosen: chosen, ledger: newLedger()}
	if f.metadata, err = metadata.NewForConfig(metadata.ConfigFor(plane.Config)); err != nil {
		return nil, err
	}
	addresses, err := koordmanager.Install(ctx, plane)
	if err != nil {
		return nil, err
	}
	say("creating %d nodes with %d pods each", chosen.nodes, chosen.podsPerNode)
	if err := f.populate(ctx); err != nil {
		return nil, fmt.Errorf("create the nodes: %w", err)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	if err := f.watch(watching); err != nil {
		return nil, err
	}
	if f.manager, err = startManager(ctx, plane, chosen.program, addresses); err != nil {
		return nil, err
	}
	f.stopManager = sync.OnceValue(f.manager.Stop)
	defer func() { err = errors.Join(err, f.stopManager()) }()
	if err := f.ledger.waitSettled(ctx, chosen.nodes); err != nil {
		return nil, fmt.Errorf("wait until everything has settled: %w\n%s", err, f.manager.Tail())
	}
	return f.measure(ctx)
}

func (f *fleet) measure(ctx context.Context) ([]figure, error) {
	var figures []figure
	for _, part := range []struct {
		name    string
		measure func(context.Context) ([]figure, error)
	}{{partConvergence, f.convergence}, {partSteady, f.steadyState}, {partPlan, f.plan}, {partForecast, f.forecast}, {partWrites, f.writes}} {
		if !f.chosen.wants(part.name) {
			continue
		}
		say("measuring %s", part.name)
		more, err := part.measure(ctx)
		figures = append(figures, more...)
		if err != nil {
			return figures, fmt.Errorf("%s: %w\n%s", part.name, err, f.manager.Tail())
		}
	}
	return figures, nil
}

// populate creates the nodes, what they report, and their pods.
func (f *fleet) populate(ctx context.Context) error {
	if err := f.CreateServiceAccount(ctx, namespace); err != nil {
		return err
	}
	return controlplane.SideBySide(ctx, f.chosen.nodes, func(ctx context.Context, i int) error {
		node := newNode(i)
		if err := f.CreateNode(ctx, node); err != nil {
			return err
		}
		metric := newNodeMetric(node.Name, i)
		for j := range f.chosen.podsPerNode {
			pod := newNodePod(node.Name, j)
			if _, err := f.Client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
				return err
			}
			metric.Status.PodsMetric = append(metric.Status.PodsMetric, newPodMetric(pod))
		}
		return f.CreateNodeMetric(ctx, metric)
	})
}

// watcher is a source of events.
type watcher func(context.Context, metav1.ListOptions) (watch.Interface, error)

// WatchWithContext asks for the events.
func (w watcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return w(ctx, options)
}

// watch begins to follow nodes, NodeSLOs and NodeMetrics.
func (f *fleet) watch(ctx context.Context) error {
	list, err := f.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 1})
	version, err := versionOf(list, err)
	if err == nil {
		err = f.ledger.follow(ctx, nodes, version, watcher(f.Client.CoreV1().Nodes().Watch))
	}
	if err != nil {
		return fmt.Errorf("follow nodes: %w", err)
	}
	for k, resource := range map[kind]schema.GroupVersionResource{nodeSLOs: nodeSLOResource, nodeMetrics: nodeMetricResource} {
		source := f.metadata.Resource(resource)
		list, err := source.List(ctx, metav1.ListOptions{Limit: 1})
		version, err := versionOf(list, err)
		if err == nil {
			err = f.ledger.follow(ctx, k, version, watcher(source.Watch))
		}
		if err != nil {
			return fmt.Errorf("follow %s: %w", resource.Resource, err)
		}
	}
	return nil
}
