package integration

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubectl/pkg/drain"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// drainPool has the node that is drained and two smaller ones.
const drainPool = "it-whatif"

// workload is a ReplicaSet whose pods may run on some nodes alone.
func workload(t *testing.T, namespace, name string, replicas int32, cpu string, nodes ...string) {
	t.Helper()
	pod := demand(namespace, name, drainPool, "cpu", cpu, "memory", "1Gi")
	pod.Labels["app"] = name
	pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
	// Unlike demand's, these do not tolerate the taint of a cordoned node.
	pod.Spec.Tolerations = []corev1.Toleration{{Key: poolTaint, Operator: corev1.TolerationOpExists}}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: nodes},
		}}},
	}}}
	replicaSet(t, pod, replicas)
}

// replicaSet makes pods like one, which has a label app.
func replicaSet(t *testing.T, pod *corev1.Pod, replicas int32) {
	t.Helper()
	_, err := client.AppsV1().ReplicaSets(pod.Namespace).Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": pod.Labels["app"]}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// runPods reports nodes and the pods of a namespace that are bound as ready until the test ends, as the kubelets of these machines would.
func runPods(t *testing.T, namespace string, nodes ...string) {
	t.Helper()
	patch := func(what, name string, apply func() error) {
		if err := apply(); err != nil && t.Context().Err() == nil && !apierrors.IsNotFound(err) {
			t.Logf("report %s %s: %v", what, name, err)
		}
	}
	report := func() {
		beat := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Test","lastHeartbeatTime":%q}]}}`, time.Now().UTC().Format(time.RFC3339))
		for _, node := range nodes {
			patch("node", node, func() error {
				_, err := client.CoreV1().Nodes().Patch(t.Context(), node, types.StrategicMergePatchType, []byte(beat), metav1.PatchOptions{}, "status")
				return err
			})
		}
		pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName!=,status.phase=Pending"})
		if err != nil {
			return
		}
		for i := range pods.Items {
			patch("pod", pods.Items[i].Name, func() error {
				const ready = `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
				_, err := client.CoreV1().Pods(namespace).Patch(t.Context(), pods.Items[i].Name, types.StrategicMergePatchType, []byte(ready), metav1.PatchOptions{}, "status")
				return err
			})
		}
	}
	var kubelet sync.WaitGroup
	kubelet.Go(func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-t.Context().Done():
				return
			case <-tick.C:
				report()
			}
		}
	})
	t.Cleanup(kubelet.Wait)
}

// outcome counts the pods of each workload by where they are: on a node, or on none.
func outcome(t *testing.T, namespace string) (map[string]int, error) {
	t.Helper()
	pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.DeletionTimestamp == nil {
			out[fmt.Sprintf("%s on %q", pod.Labels["app"], pod.Spec.NodeName)]++
		}
	}
	return out, nil
}

// forecastOutcome is outcome as a forecast says it.
func forecastOutcome(f *diagnosticsv1alpha1.DrainForecast) map[string]int {
	out := map[string]int{}
	for i := range f.Pods {
		pod := &f.Pods[i]
		app := strings.TrimPrefix(pod.Owner, "ReplicaSet/")
		switch {
		case pod.Action == diagnosticsv1alpha1.DrainSkip || pod.Blocked != "":
			out[fmt.Sprintf("%s on %q", app, pod.Node)]++
		case pod.Place == diagnosticsv1alpha1.DrainPlaceFound || pod.Place == diagnosticsv1alpha1.DrainPlaceNone:
			out[fmt.Sprintf("%s on %q", app, pod.To)]++
		}
	}
	return out
}

// prepareDrain fills the node of the pool that is drained, and then adds two smaller ones. It returns the name of the first.
func prepareDrain(t *testing.T, namespace string) string {
	t.Helper()
	full := machines(t, drainPool, 1)[0]
	medium, small := drainPool+"-more-0", drainPool+"-more-1"
	runPods(t, namespace, full, medium, small)
	workload(t, namespace, "web", 3, "2", full, small)
	workload(t, namespace, "large", 1, "3", full, medium)
	workload(t, namespace, "huge", 1, "4500m", full, medium, small)
	shell := demand(namespace, "shell", drainPool, "cpu", "100m")
	shell.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	mustSubmit(t, shell)
	one := intstr.FromInt32(1)
	_, err := client.PolicyV1().PodDisruptionBudgets(namespace).Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	awaitBound(t, patience, namespace, 6, 0)
	sandboxtest.Eventually(t, patience, func() error {
		budget, err := client.PolicyV1().PodDisruptionBudgets(namespace).Get(t.Context(), "web", metav1.GetOptions{})
		if err == nil && budget.Status.DisruptionsAllowed != 1 {
			err = fmt.Errorf("the budget is %+v", budget.Status)
		}
		return err
	})
	cpus := []string{"4", "3"}
	machines(t, drainPool+"-more", 2, func(node *corev1.Node) {
		node.Labels["pool"] = drainPool
		node.Spec.Taints[0].Value = drainPool
		i := slices.Index([]string{medium, small}, node.Name)
		node.Status.Capacity[corev1.ResourceCPU], node.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(cpus[i]), resource.MustParse(cpus[i])
	})
	return full
}

// TestADrainDoesWhatItsForecastSays forecasts a drain in which pods move, get no node, are lost and are blocked by a budget, and drains by
// the code of kubectl.
func TestADrainDoesWhatItsForecastSays(t *testing.T) {
	namespace := space(t, "it-whatif")
	node := prepareDrain(t, namespace)
	want := map[string]int{
		`web on "` + drainPool + `-more-1"`: 1, `web on ""`: 1, `web on "` + node + `"`: 1, `large on "` + drainPool + `-more-0"`: 1, `huge on ""`: 1,
	}
	var forecast diagnosticsv1alpha1.DrainForecast
	sandboxtest.Eventually(t, patience, func() error { // the scheduler learns of the new nodes one after the other
		forecast = answer[diagnosticsv1alpha1.DrainForecast](t, "DrainForecast", "whatif", "drain", node)
		if diff := cmp.Diff(want, forecastOutcome(&forecast)); diff != "" {
			return fmt.Errorf("forecast (-want +got):\n%s\n%s", diff, forecast.Message)
		}
		return nil
	})
	if forecast.Verdict != diagnosticsv1alpha1.DrainBlocked || len(forecast.Incomplete) > 0 || forecast.Rounds != 2 {
		t.Errorf("verdict %s in %d rounds, incomplete %q; want Blocked in 2 rounds", forecast.Verdict, forecast.Rounds, forecast.Incomplete)
	}
	// kubectl names one flag at a time.
	for _, refusal := range []struct {
		helper   drain.Helper
		wantFlag string
	}{
		{drain.Helper{}, "--delete-emptydir-data"}, {drain.Helper{DeleteEmptyDirData: true}, "--force"},
	} {
		refused := drainWith(t, &refusal.helper, node, nil)
		if !strings.Contains(refused, refusal.wantFlag) || !strings.Contains(forecast.Command, refusal.wantFlag) {
			t.Errorf("kubectl drain refuses because of %q, the forecast needs %q, want both to name %s", refused, forecast.Command, refusal.wantFlag)
		}
	}
	var selected []string
	blocked := drainWith(t, &drain.Helper{Force: true, DeleteEmptyDirData: true, IgnoreAllDaemonSets: true, Timeout: 30 * time.Second}, node, &selected)
	if !strings.Contains(blocked, "timeout") {
		t.Errorf("the drain ends with %q, want that it does not end", blocked)
	}
	var wantSelected []string
	for i := range forecast.Pods {
		if forecast.Pods[i].Action == diagnosticsv1alpha1.DrainEvict {
			wantSelected = append(wantSelected, forecast.Pods[i].Name)
		}
	}
	slices.Sort(wantSelected)
	if diff := cmp.Diff(wantSelected, selected); diff != "" {
		t.Errorf("pods that kubectl drain evicts (-forecast +drain):\n%s", diff)
	}
	sandboxtest.Eventually(t, patience, func() error {
		got, err := outcome(t, namespace)
		if err == nil && !maps.Equal(want, got) {
			err = fmt.Errorf("after the drain (-forecast +drain):\n%s", cmp.Diff(want, got))
		}
		return err
	})
}

// drainWith drains a node by the code of kubectl drain. It returns its error, and the sorted names of the pods that it selects.
func drainWith(t *testing.T, helper *drain.Helper, node string, selected *[]string) string {
	t.Helper()
	var out bytes.Buffer
	helper.Ctx, helper.Client, helper.Out, helper.ErrOut, helper.GracePeriodSeconds = context.Background(), client, &out, &out, -1
	list, errs := helper.GetPodsForDeletion(node)
	if len(errs) > 0 {
		return fmt.Sprint(errs)
	}
	for _, pod := range list.Pods() {
		*selected = append(*selected, pod.Name)
	}
	slices.Sort(*selected)
	object, err := client.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := drain.RunCordonOrUncordon(helper, object, true); err != nil {
		t.Fatal(err)
	}
	if err := helper.DeleteOrEvictPods(list.Pods()); err != nil {
		return err.Error()
	}
	return ""
}
