package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// configure sets keys of slo-controller-config for the time of the test.
func configure(t *testing.T, keys map[string]string) {
	t.Helper()
	patch := func(ctx context.Context, value func(text string) any) {
		data := map[string]any{}
		for key, text := range keys {
			data[key] = value(text)
		}
		body, err := json.Marshal(map[string]any{"data": data})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.CoreV1().ConfigMaps(systemNamespace).Patch(ctx, "slo-controller-config", types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	}
	patch(t.Context(), func(text string) any { return text })
	t.Cleanup(func() { patch(context.Background(), func(string) any { return nil }) })
}

// offerCPU writes the status of a node as its kubelet does: with what it offers, whatever the node shows.
func offerCPU(t *testing.T, node, cpu string) {
	t.Helper()
	patch := fmt.Sprintf(`{"status":{"allocatable":{"cpu":%q}}}`, cpu)
	if _, err := client.CoreV1().Nodes().Patch(t.Context(), node, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

// awaitNode waits until a node is as it should be.
func awaitNode(t *testing.T, name string, check func(*corev1.Node) error) *corev1.Node {
	t.Helper()
	var node *corev1.Node
	sandboxtest.Eventually(t, patience, func() error {
		var err error
		if node, err = client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(node)
	})
	return node
}

// says checks an annotation, absent when empty.
func says(node *corev1.Node, key, want string) error {
	if got := node.Annotations[key]; got != want {
		return fmt.Errorf("%s is %q, want %q", key, got, want)
	}
	return nil
}

func offers(node *corev1.Node, name corev1.ResourceName, want string) error {
	got, ok := node.Status.Allocatable[name]
	if want == "" {
		if ok {
			return fmt.Errorf("%s is %s, want none", name, got.String())
		}
		return nil
	}
	if !ok || got.Cmp(resource.MustParse(want)) != 0 {
		return fmt.Errorf("%s is %s, want %s", name, got.String(), want)
	}
	return nil
}

// extended are the resources of a node that do not follow from measurements.
func extended(node *corev1.Node) map[corev1.ResourceName]string {
	out := map[corev1.ResourceName]string{}
	for name, quantity := range node.Status.Allocatable {
		if name != extension.BatchCPU && name != extension.BatchMemory && name != extension.MidCPU && name != extension.MidMemory {
			out[name] = quantity.String()
		}
	}
	return out
}

// explainedByManager is what koord-manager says of a node. Whoever asks while no manager answers is told what the objects
// say, which is less.
func explainedByManager(t *testing.T, name string) diagnosticsv1alpha1.NodeExplanation {
	t.Helper()
	var explained diagnosticsv1alpha1.NodeExplanation
	sandboxtest.Eventually(t, patience, func() error {
		explained = answer[diagnosticsv1alpha1.NodeExplanation](t, "NodeExplanation", "explain", "node", name)
		if origin := explained.Status.Origin.Component; origin != "koord-manager" {
			return fmt.Errorf("%s answered: %v", origin, explained.Status.Findings)
		}
		return nil
	})
	return explained
}

// unchanged fails when somebody writes a node for a while.
func unchanged(t *testing.T, name string) {
	t.Helper()
	before := awaitNode(t, name, func(*corev1.Node) error { return nil })
	deadline := time.After(3 * time.Second)
	watch, err := client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: before.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	for {
		select {
		case <-deadline:
			return
		case event := <-watch.ResultChan():
			after, ok := event.Object.(*corev1.Node)
			if ok && fmt.Sprint(after.Annotations, after.Labels, extended(after)) != fmt.Sprint(before.Annotations, before.Labels, extended(before)) {
				t.Errorf("the node was written although nothing changed: %v, %v", after.Annotations, after.Status.Allocatable)
				return
			}
		}
	}
}

func TestCPUsAreNormalizedAndNodesAmplified(t *testing.T) {
	awaitAdmission(t)
	const pool = "normalized"
	name := machines(t, pool, 1)[0]
	report := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, extension.AnnotationCPUBasicInfo, `{"cpuModel":"Xeon","hyperThreadEnabled":true,"turboEnabled":true}`)
	if _, err := dynamicClient.Resource(topologyResource).Patch(t.Context(), name, types.MergePatchType, []byte(report), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	raw := fmt.Sprint(machineCPUs - keptCPUs)
	ratios := `"ratioModel":{"Xeon":{"baseRatio":1.5,"turboEnabledRatio":1.65,"hyperThreadEnabledRatio":1.0,"hyperThreadTurboEnabledRatio":1.1}}`
	selector := fmt.Sprintf(`"name":%[1]q,"nodeSelector":{"matchLabels":{"pool":%[1]q}}`, pool)
	configure(t, map[string]string{
		"cpu-normalization-config":      fmt.Sprintf(`{"enable":false,"nodeConfigs":[{%s,"enable":true,%s}]}`, selector, ratios),
		"resource-amplification-config": fmt.Sprintf(`{"enable":false,"nodeConfigs":[{%s,"enable":true,"resourceAmplificationRatio":{"cpu":1.5}}]}`, selector),
	})
	const ratio = `{"cpu":1.65}`
	shown := fmt.Sprintf("%dm", (machineCPUs-keptCPUs)*1650)
	amplified := func(raw, shown string) func(*corev1.Node) error {
		return func(node *corev1.Node) error {
			for key, want := range map[string]string{extension.AnnotationCPUNormalizationRatio: "1.10", extension.AnnotationNodeResourceAmplificationRatio: ratio,
				extension.AnnotationNodeRawAllocatable: fmt.Sprintf(`{"cpu":%q}`, raw)} {
				if err := says(node, key, want); err != nil {
					return err
				}
			}
			return offers(node, corev1.ResourceCPU, shown)
		}
	}
	awaitNode(t, name, amplified(raw, shown))
	unchanged(t, name)
	explained := explainedByManager(t, name)
	results := map[string]int64{}
	for _, fall := range explained.Status.Waterfalls {
		results[fall.Resource] = fall.Result
	}
	if results["cpu"] != (machineCPUs-keptCPUs)*1650 || results[extension.AnnotationCPUNormalizationRatio] != 110 {
		t.Errorf("explained as %v", results)
	}
	for range 3 {
		offerCPU(t, name, raw)
		awaitNode(t, name, amplified(raw, shown))
	}
	offerCPU(t, name, "10")
	awaitNode(t, name, amplified("10", "16500m"))

	t.Run("a kubelet is never blocked", func(t *testing.T) {
		pause(t, "koord-manager")
		offerCPU(t, name, "8")
		awaitNode(t, name, func(node *corev1.Node) error { return offers(node, corev1.ResourceCPU, "8") })
	})
	sandboxtest.Eventually(t, patience, func() error {
		offerCPU(t, name, "8")
		node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return amplified("8", "13200m")(node)
	})

	t.Run("the label turns it off", func(t *testing.T) {
		patch := fmt.Sprintf(`{"metadata":{"labels":{%q:"false"}}}`, extension.LabelCPUNormalizationEnabled)
		if _, err := client.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		awaitNode(t, name, func(node *corev1.Node) error {
			if err := says(node, extension.AnnotationCPUNormalizationRatio, "1.00"); err != nil {
				return err
			}
			return offers(node, corev1.ResourceCPU, "12")
		})
	})
	t.Run("switched off, the node shows what it has", func(t *testing.T) {
		configure(t, map[string]string{"resource-amplification-config": `{"enable":false}`})
		awaitNode(t, name, func(node *corev1.Node) error {
			if err := says(node, extension.AnnotationNodeResourceAmplificationRatio, ""); err != nil {
				return err
			}
			if err := says(node, extension.AnnotationNodeRawAllocatable, ""); err != nil {
				return err
			}
			return offers(node, corev1.ResourceCPU, "8")
		})
	})
}

func TestDevicesBecomeResourcesAndLabels(t *testing.T) {
	const pool = "equipped"
	name := machines(t, pool, 1, func(node *corev1.Node) {
		for _, list := range []corev1.ResourceList{node.Status.Capacity, node.Status.Allocatable} {
			for _, resource := range []corev1.ResourceName{extension.ResourceGPU, extension.ResourceGPUCore, extension.ResourceGPUMemory, extension.ResourceGPUMemoryRatio, extension.ResourceRDMA} {
				delete(list, resource)
			}
		}
	})[0]
	device := devicesOf(name)
	device.Labels = map[string]string{extension.LabelGPUVendor: "nvidia", extension.LabelGPUModel: "A100", extension.LabelGPUDriverVersion: "550.90"}
	device.Spec.Devices[1].Health = false
	create(t, deviceResource, device)
	labels := []string{extension.LabelGPUVendor, extension.LabelGPUModel, extension.DeprecatedLabelGPUModel, extension.LabelGPUDriverVersion, extension.LabelGPUDriver, extension.DeprecatedLabelGPUDriver}
	check := func(gpus int, memory, rdma string, labelled bool) func(*corev1.Node) error {
		return func(node *corev1.Node) error {
			percent := fmt.Sprint(gpus * 100)
			if !labelled {
				percent = ""
			}
			for resource, want := range map[corev1.ResourceName]string{extension.ResourceGPU: percent, extension.ResourceGPUCore: percent, extension.ResourceGPUMemoryRatio: percent,
				extension.ResourceGPUMemory: memory, extension.ResourceRDMA: rdma} {
				if err := offers(node, resource, want); err != nil {
					return err
				}
			}
			for _, key := range labels {
				if (node.Labels[key] != "") != labelled {
					return fmt.Errorf("label %s is %q", key, node.Labels[key])
				}
			}
			return nil
		}
	}
	awaitNode(t, name, check(machineGPUs-1, fmt.Sprintf("%dGi", (machineGPUs-1)*gpuMemoryGiB), "200", true))
	unchanged(t, name)
	explained := explainedByManager(t, name)
	found := false
	for _, published := range explained.Status.Published {
		if published.Resource == string(extension.ResourceGPUCore) {
			found = true
			if published.State != diagnosticsv1alpha1.InSync || *published.Computed != (machineGPUs-1)*100 {
				t.Errorf("gpu-core is %+v", published)
			}
		}
	}
	if !found {
		t.Error("gpu-core is not explained")
	}
	if err := dynamicClient.Resource(deviceResource).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, name, check(0, "", "", false))
}

func TestProdPodsRequestAShareOfTheirLimits(t *testing.T) {
	awaitAdmission(t)
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	submit := func(namespace string) (*corev1.Pod, error) {
		pod := admittedPod(namespace, nil)
		pod.Spec.PriorityClassName = "koord-prod"
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: limits}
		return client.CoreV1().Pods(namespace).Create(t.Context(), pod, dryRun)
	}
	requests := func(namespace, cpu, memory, source string) {
		t.Helper()
		sandboxtest.Eventually(t, patience, func() error {
			pod, err := submit(namespace)
			if err != nil {
				return err
			}
			got := pod.Spec.Containers[0].Resources.Requests
			if got.Cpu().Cmp(resource.MustParse(cpu)) != 0 || got.Memory().Cmp(resource.MustParse(memory)) != 0 {
				return fmt.Errorf("requests are %v, want %s and %s", got, cpu, memory)
			}
			noted, err := extension.GetProdOvercommit(pod.Annotations)
			if err != nil || noted == nil || noted.Source != source {
				return fmt.Errorf("the pod notes %+v, %v", noted, err)
			}
			return nil
		})
	}
	const namespace = "overcommitted"
	space(t, namespace)
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:"2"}}}`, extension.ProdOvercommitFactor)
	if _, err := client.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	requests(namespace, "2", "4Gi", "namespace/"+namespace)
	createProfile(t, &configv1alpha1.ClusterColocationProfile{
		ObjectMeta: metav1.ObjectMeta{Name: namespace, Annotations: map[string]string{extension.ProdOvercommitFactor: `{"cpu":4,"memory":1}`}},
		Spec: configv1alpha1.ClusterColocationProfileSpec{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
		},
	})
	requests(namespace, "1", "8Gi", "profile/"+namespace)
}
