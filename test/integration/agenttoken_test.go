package integration

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"koordinator.sh/koord/test/sandboxtest"
)

// TestAStolenTokenWritesOfItsNodeAlone tries with the token of one node's koordlet, and the rights of the chart, what it would be stolen
// for. Nothing is changed: all are dry runs.
func TestAStolenTokenWritesOfItsNodeAlone(t *testing.T) {
	namespace := space(t, "it-token")
	pod := bestEffort(t, namespace, "victim", otherNode)
	config := agentOf(t, namespace, agentNode, map[string]any{})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var (
		tried     = []string{metav1.DryRunAll}
		reports   = schema.GroupVersionResource{Group: "slo.koordinator.sh", Version: "v1alpha1", Resource: "nodemetrics"}
		zones     = schema.GroupVersionResource{Group: "topology.node.k8s.io", Version: "v1alpha1", Resource: "noderesourcetopologies"}
		machines  = schema.GroupVersionResource{Group: "scheduling.koordinator.sh", Version: "v1alpha1", Resource: "devices"}
		incidents = schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}
	)
	report := func(node string) error {
		_, err := objects.Resource(reports).Patch(t.Context(), node, types.MergePatchType, []byte(`{"status":{"updateTime":"2026-01-01T00:00:00Z"}}`), metav1.PatchOptions{DryRun: tried}, "status")
		return err
	}
	create := func(resource schema.GroupVersionResource, kind, namespace string, object map[string]any) error {
		object["apiVersion"], object["kind"] = resource.GroupVersion().String(), kind
		_, err := objects.Resource(resource).Namespace(namespace).Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{DryRun: tried})
		return err
	}
	named := func(name string) map[string]any { return map[string]any{"metadata": map[string]any{"name": name}} }
	event := func(controller, action, kind string) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"name": "told." + strings.ToLower(controller+action+kind), "namespace": namespace}, "eventTime": "2026-01-01T00:00:00.000000Z",
			"reportingController": controller, "reportingInstance": "x", "action": action, "reason": "Told", "type": "Warning",
			"regarding": map[string]any{"kind": kind, "namespace": namespace, "name": pod.Name},
		}
	}
	sandboxtest.Eventually(t, patience, func() error { // a policy is in force a moment after it was made
		if err := report(otherNode); !apierrors.IsForbidden(err) {
			return fmt.Errorf("a report about another node ends with %v", err)
		}
		return nil
	})
	const ownNode, ownEvents, rbac = "of the node its token is bound to", "its own events about evictions", "cannot "
	attempts := map[string]struct {
		err  error
		want string
	}{
		"a report about another node":    {report(otherNode), ownNode},
		"the topology of another node":   {create(zones, "NodeResourceTopology", "", map[string]any{"metadata": map[string]any{"name": otherNode}, "topologyPolicies": []any{"None"}, "zones": []any{}}), ownNode},
		"the devices of another node":    {create(machines, "Device", "", named(otherNode)), ownNode},
		"an event as kubelet":            {create(incidents, "Event", namespace, event("kubelet", "Evict", "Pod")), ownEvents},
		"an event about a node":          {create(incidents, "Event", namespace, event("koordlet", "Evict", "Node")), ownEvents},
		"an event of another action":     {create(incidents, "Event", namespace, event("koordlet", "Killing", "Pod")), ownEvents},
		"a NodeMetric that is not there": {create(reports, "NodeMetric", "", named("new")), rbac},
		"a NodeMetric that goes":         {objects.Resource(reports).Delete(t.Context(), agentNode, metav1.DeleteOptions{DryRun: tried}), rbac},
		"a pod that goes":                {client.CoreV1().Pods(namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{DryRun: tried}), rbac},
		"the labels of a node":           {failure(client.CoreV1().Nodes().Patch(t.Context(), agentNode, types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{DryRun: tried})), rbac},
		"what a pod was given":           {failure(client.CoreV1().Pods(namespace).Patch(t.Context(), pod.Name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"scheduling.koordinator.sh/resource-status":"{}"}}}`), metav1.PatchOptions{DryRun: tried})), rbac},
		"secrets":                        {failure(client.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})), rbac},
		"the configuration":              {failure(client.CoreV1().ConfigMaps(systemNamespace).Patch(t.Context(), configName, types.MergePatchType, []byte(`{"data":{}}`), metav1.PatchOptions{DryRun: tried})), rbac},
	}
	for name, attempt := range attempts {
		if !apierrors.IsForbidden(attempt.err) || !strings.Contains(attempt.err.Error(), attempt.want) {
			t.Errorf("%s: %v, want it forbidden with %q", name, attempt.err, attempt.want)
		}
	}
	for name, err := range map[string]error{"its own report": report(agentNode), "an event about an eviction": create(incidents, "Event", namespace, event("koordlet", "Evict", "Pod"))} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func failure[T any](_ T, err error) error { return err }
