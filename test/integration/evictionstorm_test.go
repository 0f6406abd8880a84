package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/evictionbudget"
	"koordinator.sh/koord/test/sandboxtest"
)

// What runs on each node of the storm, and what a PodDisruptionBudget lets go of the guarded pods of all nodes.
const (
	freePods, guardedPods, mayBeDisrupted = 6, 6, 2
	app                                   = "app"
	// askedAgain is how many readings, of a second each, agents take to ask again for a pod that was refused.
	askedAgain = 15
	// countedInVain are evictions that koord-manager may count although the API server then refuses them: those that agents ask for
	// before it has heard that the budget allows no more.
	countedInVain = 4
)

// stormNodes run out of memory at once.
var stormNodes = []string{"sim-0001", "sim-0002", "sim-0003", "sim-0004"}

// uncounted forgets the evictions of the last minutes, so that neither those of other tests count in this one nor the other way round.
func uncounted(t *testing.T) {
	t.Helper()
	err := client.CoreV1().ConfigMaps(systemNamespace).Delete(context.WithoutCancel(t.Context()), configuration.EvictionsConfigMapName, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// counted is how many evictions koord-manager counted, and how many it admits.
func counted(t *testing.T) (used, limit int) {
	t.Helper()
	object, err := client.CoreV1().ConfigMaps(systemNamespace).Get(t.Context(), configuration.EvictionsConfigMapName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return 0, evictionbudget.Least
	}
	if err != nil {
		t.Fatal(err)
	}
	record, err := evictionbudget.ParseRecord(object.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range record.Evicted {
		used += c.Count
	}
	return used, record.Limit
}

// guard has a PodDisruptionBudget protect the guarded pods of all nodes, and waits until it does.
func guard(t *testing.T, namespace string) {
	t.Helper()
	all := guardedPods * len(stormNodes)
	least := intstr.FromInt(all - mayBeDisrupted)
	budgets := client.PolicyV1().PodDisruptionBudgets(namespace)
	if _, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "guarded"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{app: "guarded"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error {
		budget, err := budgets.Get(t.Context(), "guarded", metav1.GetOptions{})
		if err == nil && int(budget.Status.DisruptionsAllowed) != mayBeDisrupted {
			err = fmt.Errorf("budget %+v, want that %d disruptions are allowed", budget.Status, mayBeDisrupted)
		}
		return err
	})
}

// stormPods are what runs on a node: pods that may go and pods that a budget guards, in turn, and one of a service.
func stormPods(namespace, node string) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range freePods + guardedPods + 1 {
		pod := demand(namespace, fmt.Sprintf("%s-%02d", node, i), "", string(extension.BatchMemory), "1Gi")
		pod.Labels[extension.LabelPodQoS], pod.Spec.PriorityClassName, pod.Labels[app] = string(extension.QoSBE), string(extension.PriorityBatch), "free"
		if i%2 == 1 {
			pod.Labels[app] = "guarded"
		}
		if i == freePods+guardedPods {
			pod = demand(namespace, node+"-service", "", "memory", "1Gi")
			pod.Labels[extension.LabelPodQoS], pod.Labels[app] = string(extension.QoSLS), "service"
		}
		pod.Spec.NodeName, pod.Spec.NodeSelector = node, nil
		pods = append(pods, pod)
	}
	return pods
}

// left are the pods of a namespace that were not evicted, by node and by what they are.
func left(t *testing.T, namespace string) (byNode map[string][]*corev1.Pod, byApp map[string]int) {
	t.Helper()
	list, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	byNode, byApp = map[string][]*corev1.Pod{}, map[string]int{}
	for i := range list.Items {
		pod := &list.Items[i]
		byNode[pod.Spec.NodeName] = append(byNode[pod.Spec.NodeName], pod)
		if pod.DeletionTimestamp == nil {
			byApp[pod.Labels[app]]++
		}
	}
	return byNode, byApp
}

// storming is the agents of all nodes.
type storming struct {
	namespace string
	agents    map[string]*evictingAgent
}

// read has every agent read a node that is short of memory, and know of its pods what the API server says.
func (s *storming) read(t *testing.T) (byApp map[string]int, held string) {
	t.Helper()
	byNode, byApp := left(t, s.namespace)
	for node, agent := range s.agents {
		agent.pods = byNode[node]
		held += agent.read(92) + "\n"
	}
	return byApp, held
}

// TestAnEvictionStormBreaksNoBudget has four nodes run out of memory at once. Half of the pods that may be evicted are guarded by a
// PodDisruptionBudget, and more of the rest than the cluster's budget lets go.
func TestAnEvictionStormBreaksNoBudget(t *testing.T) {
	awaitAdmission(t)
	namespace := space(t, "it-storm")
	storm := &storming{namespace: namespace, agents: map[string]*evictingAgent{}}
	for _, node := range stormNodes {
		mustSubmit(t, stormPods(namespace, node)...)
		storm.agents[node] = startEvicting(t, agentAt(t, systemNamespace, node), false)
	}
	guard(t, namespace)
	for _, node := range stormNodes {
		awaitRunning(t, namespace, node+"-service")
	}
	all := map[string]int{"free": freePods * len(stormNodes), "guarded": guardedPods * len(stormNodes), "service": len(stormNodes)}
	uncounted(t)
	t.Cleanup(func() { uncounted(t) })

	check := func(byApp map[string]int) {
		t.Helper()
		if byApp["guarded"] < all["guarded"]-mayBeDisrupted {
			t.Fatalf("%d guarded pods are left of %d, and %d may be disrupted", byApp["guarded"], all["guarded"], mayBeDisrupted)
		}
		if byApp["service"] != all["service"] {
			t.Fatalf("%d pods of services are left of %d", byApp["service"], all["service"])
		}
	}
	goneOf := func(byApp map[string]int) int { return all["free"] + all["guarded"] - byApp["free"] - byApp["guarded"] }

	gone, quiet := 0, 0
	sandboxtest.Eventually(t, patience, func() error {
		byApp, _ := storm.read(t)
		check(byApp)
		used, limit := counted(t)
		if gone = goneOf(byApp); gone > limit {
			t.Fatalf("%d pods were evicted, the cluster's budget is %d", gone, limit)
		}
		if used < limit || used-gone > countedInVain {
			quiet = 0
			return fmt.Errorf("%d evictions are counted of %d, and %d pods were evicted", used, limit, gone)
		}
		if quiet++; quiet < askedAgain {
			return fmt.Errorf("the agents have read their nodes %d times since the budget was used up, want %d", quiet, askedAgain)
		}
		return nil
	})

	used, _ := counted(t)
	t.Logf("%d pods were evicted and %d evictions counted", gone, used)

	// Ten minutes later, as it were.
	uncounted(t)
	sandboxtest.Eventually(t, patience, func() error {
		byApp, held := storm.read(t)
		check(byApp)
		if goneOf(byApp) == gone {
			return errors.New("no agent goes on, because of " + held)
		}
		return nil
	})
}
