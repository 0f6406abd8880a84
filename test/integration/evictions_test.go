package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/test/sandboxtest"
)

// agentNode is the node whose agent evicts in these tests, and otherNode another one.
const agentNode, otherNode = "sim-0002", "sim-0003"

// protect has a PodDisruptionBudget want that a pod stays, and waits until it protects that.
func protect(t *testing.T, pod *corev1.Pod, name string) {
	t.Helper()
	budgets, least := client.PolicyV1().PodDisruptionBudgets(pod.Namespace), intstr.FromInt32(1)
	_, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": pod.Labels["app"]}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	awaitProtected(t, pod.Namespace, name)
}

// awaitProtected waits until a budget has counted one healthy pod, which it cannot do without.
func awaitProtected(t *testing.T, namespace, name string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		budget, err := client.PolicyV1().PodDisruptionBudgets(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if s := budget.Status; s.ObservedGeneration < budget.Generation || s.CurrentHealthy != 1 || s.DesiredHealthy != 1 || s.DisruptionsAllowed != 0 {
			return fmt.Errorf("budget %s is %+v", name, s)
		}
		return nil
	})
}

// wantStays checks that a pod is there, the very one, and was not evicted.
func wantStays(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	there, err := client.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil || there.UID != pod.UID || there.DeletionTimestamp != nil {
		t.Errorf("pod %s has UID %s, is deleted at %v, %v; want UID %s and that it stays", pod.Name, there.UID, there.DeletionTimestamp, err, pod.UID)
	}
}

func awaitGone(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		_, err := client.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("pod %s is not gone: %v", pod.Name, err)
		}
		return nil
	})
}

// awaitEvent waits for the agent's event about a pod that was evicted, and returns its note.
func awaitEvent(t *testing.T, pod *corev1.Pod) (note string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		list, err := client.EventsV1().Events(pod.Namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + eviction.Victim{Feature: eviction.BEMemoryEvict}.EventReason()})
		if err != nil {
			return err
		}
		for i := range list.Items {
			if list.Items[i].Regarding.UID == pod.UID {
				note = list.Items[i].Note
				return nil
			}
		}
		return fmt.Errorf("no event tells of pod %s among %d", pod.Name, len(list.Items))
	})
	return note
}

// TestAnAgentEvictsThroughTheAPI has koordlet's code evict with koordlet's rights: what the API server answers, a budget is known by.
func TestAnAgentEvictsThroughTheAPI(t *testing.T) {
	namespace := space(t, "it-evictions")
	config := agentOf(t, namespace, agentNode, map[string]any{})

	t.Run("a budget protects a pod until it is gone", func(t *testing.T) {
		pod := bestEffort(t, namespace, "protected", agentNode)
		protect(t, pod, pod.Name)
		agent := startEvicting(t, config, false, pod)
		agent.read(85)
		if entry := agent.entry(t, 0); entry.New != "running" || !strings.Contains(entry.Error, "disruption budget") {
			t.Errorf("entry %+v, want that the budget refuses", entry)
		}
		if held, want := agent.read(85), "PodDisruptionBudgets protect all 1 pods"; !strings.Contains(held, want) || !strings.Contains(held, "are overridden below") {
			t.Errorf("held because %q, want %q", held, want)
		}
		if held, want := agent.read(98), "evictInDanger is off"; !strings.Contains(held, want) {
			t.Errorf("in danger, held because %q, want %q", held, want)
		}
		wantStays(t, pod)
		if err := client.PolicyV1().PodDisruptionBudgets(namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		agent.clock.SetTime(agent.clock.Now().Add(time.Minute)) // a pod that was refused is left alone for a while
		agent.read(85)
		if entry := agent.entry(t, 1); entry.New != "evicted" || entry.Error != "" || agent.evicted() != 1 {
			t.Errorf("entry %+v and %d evictions, want one", entry, agent.evicted())
		}
		awaitGone(t, pod)
		if note := awaitEvent(t, pod); !strings.Contains(note, "memory") || strings.Contains(note, "overridden") {
			t.Errorf("the event says %q", note)
		}
	})
	t.Run("a pod whose name another one has is not evicted", func(t *testing.T) {
		before := bestEffort(t, namespace, "replaced", agentNode)
		agent := startEvicting(t, config, false, before)
		after := replace(t, before)
		agent.read(85)
		if entry := agent.entry(t, 0); entry.New != "running" || !strings.Contains(entry.Error, string(before.UID)) || agent.evicted() != 0 {
			t.Errorf("entry %+v and %d evictions, want that the UID is another", entry, agent.evicted())
		}
		wantStays(t, after)
	})
	t.Run("what two budgets cover, which is more than an API server can look at, stays as protected", func(t *testing.T) {
		pod := bestEffort(t, namespace, "twice", agentNode)
		protect(t, pod, "twice-a")
		protect(t, pod, "twice-b")
		agent := startEvicting(t, config, false, pod)
		agent.read(98)
		if entry := agent.entry(t, 0); entry.New != "running" || !strings.Contains(entry.Error, "more than one PodDisruptionBudget") || agent.evicted() != 0 {
			t.Errorf("entry %+v and %d evictions, want that both budgets are told of", entry, agent.evicted())
		}
		if held := agent.read(98); !strings.Contains(held, "PodDisruptionBudgets protect") {
			t.Errorf("held because %q, want that both budgets protect", held)
		}
		wantStays(t, pod)
	})
	t.Run("in danger, an agent without the right to delete says so", func(t *testing.T) {
		pod := bestEffort(t, namespace, "undeletable", agentNode)
		protect(t, pod, pod.Name)
		agent := startEvicting(t, config, true, pod)
		intoDanger(t, agent)
		if entry := agent.entry(t, 1); entry.New != "running" || !strings.Contains(entry.Error, "forbidden") || !strings.Contains(entry.Why, "overridden") {
			t.Errorf("entry %+v, want that the agent may not delete", entry)
		}
		wantStays(t, pod)
	})
}

// TestAnAgentInDangerOverridesABudget has koordlet's code delete pods with the rights of the chart that asks for that.
func TestAnAgentInDangerOverridesABudget(t *testing.T) {
	namespace := space(t, "it-danger")
	config := agentOf(t, namespace, agentNode, map[string]any{"evictInDanger": true, "restrictToOwnNode": true})

	t.Run("one pod goes after the last reading", func(t *testing.T) {
		pod := bestEffort(t, namespace, "protected", agentNode)
		protect(t, pod, pod.Name)
		agent := startEvicting(t, config, true, pod)
		intoDanger(t, agent)
		if entry := agent.entry(t, 1); entry.New != "deleted" || entry.Error != "" || agent.evicted() != 1 {
			t.Errorf("entry %+v and %d evictions, want that the pod is deleted", entry, agent.evicted())
		}
		awaitGone(t, pod)
		if note := awaitEvent(t, pod); !strings.Contains(note, "its PodDisruptionBudget was overridden") {
			t.Errorf("the event says %q", note)
		}
	})
	t.Run("a pod whose name another one has is not deleted", func(t *testing.T) {
		before := bestEffort(t, namespace, "replaced", agentNode)
		protect(t, before, before.Name)
		agent := startEvicting(t, config, true, before)
		agent.read(98)
		agent.entry(t, 0)
		after := replace(t, before)
		for range eviction.DangerReadings - 1 {
			agent.read(98)
		}
		if entry := agent.entry(t, 1); entry.New != "running" || !strings.Contains(entry.Error, string(before.UID)) || !strings.Contains(entry.Why, "overridden") {
			t.Errorf("entry %+v, want that the UID is another", entry)
		}
		wantStays(t, after)
	})
	t.Run("a pod of another node is not deleted", func(t *testing.T) {
		pod := bestEffort(t, namespace, "elsewhere", otherNode)
		agent := startEvicting(t, config, true)
		sandboxtest.Eventually(t, patience, func() error { // a policy is in force a moment after it was made
			err := agent.client.CoreV1().Pods(namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "delete only pods of that node") {
				return fmt.Errorf("delete pod %s: %v; want that the policy forbids it", pod.Name, err)
			}
			return nil
		})
	})
}

// intoDanger has an agent read a node in danger until it does what it does about a budget.
func intoDanger(t *testing.T, agent *evictingAgent) {
	t.Helper()
	agent.read(98)
	if entry := agent.entry(t, 0); !strings.Contains(entry.Error, "disruption budget") {
		t.Fatalf("entry %+v, want that the budget refuses", entry)
	}
	for reading := 2; reading < eviction.DangerReadings; reading++ {
		if held, want := agent.read(98), fmt.Sprintf("and there were %d", reading); !strings.Contains(held, want) {
			t.Errorf("at reading %d, held because %q, want %q", reading, held, want)
		}
	}
	wantStays(t, agent.pods[0])
	agent.read(98)
}

// replace a pod by another one of its name, which is as much protected.
func replace(t *testing.T, before *corev1.Pod) *corev1.Pod {
	t.Helper()
	if err := remove(context.WithoutCancel(t.Context()), before.Namespace, before.Name); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, before)
	return bestEffort(t, before.Namespace, before.Name, before.Spec.NodeName)
}
