package integration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/evictor"
	"koordinator.sh/koord/agent/koordlet"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/test/sandboxtest"
)

// rightsOf are the kinds that the chart's rights of koordlet are of, in the order in which they can be made.
var rightsOf = []schema.GroupVersionResource{
	{Version: "v1", Resource: "serviceaccounts"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"},
}

// agentOf returns a configuration with the rights that the chart gives the koordlet of a node, in a namespace of the test's own.
func agentOf(t *testing.T, namespace, node string, values map[string]any) *rest.Config {
	t.Helper()
	for _, kind := range rightsOf {
		for _, object := range chartOf(t, namespace, map[string]any{"koordlet": values}) {
			if plural(object.GetKind()) == kind.Resource && strings.HasPrefix(object.GetName(), "koordlet") {
				giveRight(t, kind, object, namespace)
			}
		}
	}
	return agentAt(t, namespace, node)
}

// agentAt returns a configuration of the koordlet of a node: with the token of a namespace's ServiceAccount that is bound to the node.
func agentAt(t *testing.T, namespace, node string) *rest.Config {
	t.Helper()
	name := types.NamespacedName{Namespace: namespace, Name: "koordlet"}
	there, err := client.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.CoreV1().ServiceAccounts(name.Namespace).CreateToken(t.Context(), name.Name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Node", Name: node, UID: there.UID}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	admin, err := shared.Config()
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = made.Status.Token
	return config
}

func plural(kind string) string {
	if stem, isPolicy := strings.CutSuffix(strings.ToLower(kind), "y"); isPolicy {
		return stem + "ies"
	}
	return strings.ToLower(kind) + "s"
}

// chartOf are the chart's objects for a namespace, with some values.
func chartOf(t *testing.T, namespace string, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	manifest, err := release.Render(t.Context(), release.Options{Namespace: namespace, Values: values})
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(object); {
		case errors.Is(err, io.EOF):
			return objects
		case err != nil:
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
}

// giveRight makes one of the objects. Those outside of namespaces are called after the namespace, to lie beside the sandbox's.
func giveRight(t *testing.T, kind schema.GroupVersionResource, object *unstructured.Unstructured, namespace string) {
	t.Helper()
	right := dynamicClient.Resource(kind).Namespace(object.GetNamespace())
	if object.GetNamespace() == "" {
		right = dynamicClient.Resource(kind)
		object.SetName(namespace + "-" + object.GetName())
		for _, reference := range [][]string{{"roleRef", "name"}, {"spec", "policyName"}} {
			if to, found, _ := unstructured.NestedString(object.Object, reference...); found && strings.HasPrefix(to, "koordlet") {
				if err := unstructured.SetNestedField(object.Object, namespace+"-"+to, reference...); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, err := right.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := right.Delete(context.Background(), object.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
}

const (
	gib = int64(1) << 30
	// agentMemory is that of the node whose agent evicts, in GiB: pods are evicted above 80, and the node is in danger above 97.
	agentMemory = 100
)

// evictingAgent is the part of koordlet that evicts, on a node that uses as much memory as the test says.
type evictingAgent struct {
	*evictor.Evictor
	client kubernetes.Interface
	audit  *audit.Log
	clock  *clocktesting.FakePassiveClock
	// pods that the agent knows of the node.
	pods []*corev1.Pod
}

// startEvicting starts one with the rights of a configuration. It reads the node on request.
func startEvicting(t *testing.T, config *rest.Config, inDanger bool, pods ...*corev1.Pod) *evictingAgent {
	t.Helper()
	clients, err := connection.New(config, "koordlet", koordlet.DefaultQPS)
	if err != nil {
		t.Fatal(err)
	}
	a := &evictingAgent{client: clients.Core, audit: audit.NewLog(100), clock: clocktesting.NewFakePassiveClock(time.Now()), pods: pods}
	ctx, cancel := context.WithCancel(t.Context())
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: clients.Core.EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	a.Evictor = evictor.New(evictor.Options{
		Client: clients.Core, On: map[eviction.Feature]bool{eviction.BEMemoryEvict: true}, Audit: a.audit, InDanger: inDanger, Clock: a.clock,
		Events: broadcaster.NewRecorder(scheme.Scheme, "koordlet"),
	})
	var running sync.WaitGroup
	running.Go(func() { a.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait(); broadcaster.Shutdown() })
	return a
}

// read has the agent read the node, a second after the last time, and returns why no more pods go.
func (a *evictingAgent) read(usedGiB int64) (held string) {
	a.clock.SetTime(a.clock.Now().Add(time.Second))
	var pods []*state.Pod
	for _, pod := range a.pods {
		pods = append(pods, state.PodOf(pod))
	}
	a.Decide(evictor.Reading{
		Now: a.clock.Now(), Period: time.Second, Pods: pods, Capacity: podrequest.Amount{MilliCPU: 10000, Memory: agentMemory * gib}, BestEffortLimit: -1,
		Strategy: &slov1alpha1.ResourceThresholdStrategy{Enable: new(true), MemoryEvictThresholdPercent: new(int64(80)), MemoryEvictLowerPercent: new(int64(78))},
		Used:     func() (metrics.Usage, bool) { return metrics.Usage{Memory: usedGiB * gib}, true },
		PodUsed:  func(types.UID) (metrics.Usage, bool) { return metrics.Usage{Memory: 10 * gib}, true },
	})
	for _, outcome := range a.Plan().Outcomes {
		held = cmp.Or(held, outcome.Held)
	}
	return held
}

// entry waits for the next entry of the agent's log after a number of them.
func (a *evictingAgent) entry(t *testing.T, after uint64) audit.Entry {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		if a.audit.Last() <= after {
			return fmt.Errorf("the agent's log has %d entries, want more", a.audit.Last())
		}
		return nil
	})
	return a.audit.After(after, 1)[0]
}

// evicted counts the pods that the agent says it evicted.
func (a *evictingAgent) evicted() int { return a.Counts()[eviction.BEMemoryEvict] }

// bestEffort is a pod that may be evicted, which runs on one of the sandbox's nodes until the test's end.
func bestEffort(t *testing.T, namespace, name, node string, edit ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	pod := demand(namespace, name, "", string(extension.BatchMemory), "1Gi")
	pod.Labels[extension.LabelPodQoS], pod.Labels["app"] = string(extension.QoSBE), name
	pod.Spec.PriorityClassName, pod.Spec.NodeName, pod.Spec.NodeSelector = string(extension.PriorityBatch), node, nil
	for _, change := range edit {
		change(pod)
	}
	mustSubmit(t, pod)
	return awaitRunning(t, namespace, name)
}

// awaitRunning waits until a pod runs and is ready.
func awaitRunning(t *testing.T, namespace, name string) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	sandboxtest.Eventually(t, patience, func() (err error) {
		if pod, err = client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			return err
		}
		if !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			return fmt.Errorf("%s is %s: %+v", name, pod.Status.Phase, pod.Status.Conditions)
		}
		return nil
	})
	return pod
}
