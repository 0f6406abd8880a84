package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/test/sandboxtest"
)

var (
	sloResource  = slov1alpha1.GroupVersion.WithResource("nodeslos")
	nodeResource = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
)

// history is every version of the objects of a kind since it was begun, in order. It is safe for concurrent use.
type history struct {
	kind      schema.GroupVersionResource
	namespace string

	mutex    sync.Mutex
	versions map[string][]*unstructured.Unstructured
	// broken says that the watch ended before the test.
	broken bool
}

// follow begins a history, with the objects as they are. It ends with the test.
func follow(t *testing.T, kind schema.GroupVersionResource, namespace string) *history {
	t.Helper()
	h := &history{kind: kind, namespace: namespace, versions: map[string][]*unstructured.Unstructured{}}
	list, err := dynamicClient.Resource(kind).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		h.add(&list.Items[i])
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	events, err := dynamicClient.Resource(kind).Namespace(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for event := range events.ResultChan() {
			if object, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != watch.Error {
				h.add(object)
			}
		}
		h.mutex.Lock()
		h.broken = ctx.Err() == nil
		h.mutex.Unlock()
	})
	t.Cleanup(func() {
		cancel()
		reading.Wait()
	})
	return h
}

func (h *history) add(object *unstructured.Unstructured) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.versions[object.GetName()] = append(h.versions[object.GetName()], object)
}

// catchUp waits until the history has the objects as they are, and returns it by name.
func (h *history) catchUp(t *testing.T) map[string][]*unstructured.Unstructured {
	t.Helper()
	list, err := dynamicClient.Resource(h.kind).Namespace(h.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error {
		h.mutex.Lock()
		defer h.mutex.Unlock()
		if h.broken {
			t.Fatalf("the watch of %s broke", h.kind.Resource)
		}
		for i := range list.Items {
			object := &list.Items[i]
			seen := func(version *unstructured.Unstructured) bool {
				return version.GetResourceVersion() == object.GetResourceVersion()
			}
			if !slices.ContainsFunc(h.versions[object.GetName()], seen) {
				return fmt.Errorf("%s %s at version %s was not seen", h.kind.Resource, object.GetName(), object.GetResourceVersion())
			}
		}
		return nil
	})
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return maps.Clone(h.versions)
}

// as decodes an object.
func as[T any](t *testing.T, object *unstructured.Unstructured) *T {
	t.Helper()
	out := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// specIn finds the configuration that a NodeSLO's spec is wholly made of, at or after one of them; -1 when there is none.
func specIn(spec slov1alpha1.NodeSLOSpec, node *corev1.Node, configs []configmerge.Config, first int) int {
	for i := first; i < len(configs); i++ {
		want := configs[i].NodeSLOSpec(node)
		want.Extensions = spec.Extensions
		if equality.Semantic.DeepEqual(spec, want) {
			return i
		}
	}
	return -1
}

// wholeSpecs checks that every version of every NodeSLO is one of the configurations and no mixture, and that none goes back
// to an earlier one. It returns how many writes there were.
func wholeSpecs(t *testing.T, h *history, configs []configmerge.Config) (writes int) {
	t.Helper()
	for name, versions := range h.catchUp(t) {
		node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) { // an earlier test's machine, whose NodeSLO follows it
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, version := range versions {
			slo := as[slov1alpha1.NodeSLO](t, version)
			found := specIn(slo.Spec, node, configs, at)
			if found < 0 {
				t.Errorf("NodeSLO %s of version %s is no configuration after the %d-th: %s", name, slo.ResourceVersion, at, thresholds(slo.Spec))
				break
			}
			at = found
		}
		writes += len(versions) - 1
	}
	return writes
}

// thresholds are a NodeSLO's, for a failure to name.
func thresholds(spec slov1alpha1.NodeSLOSpec) string {
	text, err := json.Marshal(spec.ResourceUsedThresholdWithBE)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// offer is what a node offers to batch and mid pods; -1 is nothing at all.
type offer [4]int64

func offerOf(node *corev1.Node) (out offer) {
	for i, name := range overcommit.Resources() {
		out[i] = -1
		if published := overcommit.Published(node, name); published != nil {
			out[i] = *published
		}
	}
	return out
}

// intended is the offer that a configuration gives a node without pods.
func intended(config configmerge.Config, node *corev1.Node, metric *slov1alpha1.NodeMetric) (out offer) {
	result := overcommit.Calculate(overcommit.NodeInput{Node: node, Metric: metric, Strategy: config.Colocation(node), Now: time.Now()}, nil)
	for i, name := range overcommit.Resources() {
		value, _ := result.Of(name)
		out[i] = value.Value
		if value.Withdrawn {
			out[i] = -1
		}
	}
	return out
}

// metricOf reads a NodeMetric.
func metricOf(t *testing.T, name string) *slov1alpha1.NodeMetric {
	t.Helper()
	object, err := dynamicClient.Resource(metricResource).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return as[slov1alpha1.NodeMetric](t, object)
}

// offersOf are the offers that configurations give a machine, in their order.
func offersOf(t *testing.T, name string, configs []configmerge.Config) []offer {
	t.Helper()
	node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	metric := metricOf(t, name)
	var out []offer
	for _, config := range configs {
		out = append(out, intended(config, node, metric))
	}
	return out
}

// wholeOffers checks that every offer that a machine ever showed is one of the intended ones and no mixture, and that it never
// goes back to an earlier one. It returns how often the offer changed.
func wholeOffers(t *testing.T, versions []*unstructured.Unstructured, want []offer) (changes int) {
	t.Helper()
	at, last := 0, offer{}
	for i, version := range versions {
		node := as[corev1.Node](t, version)
		got := offerOf(node)
		if i > 0 && got == last {
			continue
		}
		found := slices.Index(want[at:], got)
		if found < 0 {
			t.Errorf("node %s of version %s offers %v, which is no configuration's after the %d-th, %v", node.Name, node.ResourceVersion, got, at, want[at])
			return changes
		}
		at += found
		if i > 0 {
			changes++
		}
		last = got
	}
	return changes
}

// rolledOut checks that every NodeSLO is what a configuration says, that every machine named offers what it gives, and that
// no node of the cluster waits for a write.
func rolledOut(t *testing.T, config configmerge.Config, machines []string) error {
	t.Helper()
	nodeList, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	slos, err := dynamicClient.Resource(sloResource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	specs := map[string]slov1alpha1.NodeSLOSpec{}
	for i := range slos.Items {
		specs[slos.Items[i].GetName()] = as[slov1alpha1.NodeSLO](t, &slos.Items[i]).Spec
	}
	var errs []error
	for i := range nodeList.Items {
		node := &nodeList.Items[i]
		spec, ok := specs[node.Name]
		if !ok || specIn(spec, node, []configmerge.Config{config}, 0) < 0 {
			errs = append(errs, fmt.Errorf("NodeSLO %s (%t) is not what the configuration says: %s", node.Name, ok, thresholds(spec)))
			continue
		}
		if slices.Contains(machines, node.Name) {
			if got, want := offerOf(node), intended(config, node, metricOf(t, node.Name)); got != want {
				errs = append(errs, fmt.Errorf("node %s offers %v, want %v", node.Name, got, want))
			}
			continue
		}
		if reason := waits(t, config, node); reason != "" {
			errs = append(errs, fmt.Errorf("node %s waits for a write: %s", node.Name, reason))
		}
	}
	return errors.Join(errs...)
}

// waits says why the offer of a node has yet to be written; empty when it has not.
func waits(t *testing.T, config configmerge.Config, node *corev1.Node) string {
	t.Helper()
	in := overcommit.NodeInput{Node: node, Strategy: config.Colocation(node), Now: time.Now()}
	list, err := dynamicClient.Resource(metricResource).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + node.Name})
	if err != nil {
		return err.Error()
	}
	if len(list.Items) > 0 {
		in.Metric = as[slov1alpha1.NodeMetric](t, &list.Items[0])
	}
	pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + node.Name})
	if err != nil {
		return err.Error()
	}
	for i := range pods.Items {
		in.Pods = append(in.Pods, &pods.Items[i])
	}
	return overcommit.Calculate(in, nil).Sync(in).Reason
}

// awaitRolledOut waits until a configuration is everywhere.
func awaitRolledOut(t *testing.T, config configmerge.Config, machines []string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error { return rolledOut(t, config, machines) })
}
