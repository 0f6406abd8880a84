package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// describeNodes summarises nodes: how many of each kind, and those that differ.
func describeNodes(nodes []*corev1.Node) string {
	kinds := map[string]int{}
	var special []string
	for _, node := range nodes {
		kinds[fmt.Sprintf("%-8s %s  capacity %s  allocatable %s", node.Labels[corev1.LabelInstanceTypeStable],
			node.Labels[corev1.LabelTopologyZone], resourceText(node.Status.Capacity), resourceText(node.Status.Allocatable))]++
		for _, key := range slices.Sorted(maps.Keys(node.Annotations)) {
			special = append(special, fmt.Sprintf("  %s %s=%s\n", node.Name, key, node.Annotations[key]))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d nodes, %s to %s\n", len(nodes), nodes[0].Name, nodes[len(nodes)-1].Name)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(&b, "  %5d x %s\n", kinds[kind], kind)
	}
	b.WriteString(strings.Join(special, ""))
	return b.String()
}

// describeWaves summarises workloads.
func describeWaves(waves []Wave) string {
	var b strings.Builder
	for i, wave := range waves {
		fmt.Fprintf(&b, "wave %d", i+1)
		if wave.AwaitBound != "" {
			which := "a pod"
			if len(wave.OnlyOn) > 0 {
				which = "every pod"
			}
			fmt.Fprintf(&b, ", until %s %s in %s is bound", which, wave.AwaitBound, wave.Namespace)
		}
		if len(wave.OnlyOn) > 0 {
			fmt.Fprintf(&b, ", meanwhile all nodes but %s are cordoned", strings.Join(wave.OnlyOn, " "))
		}
		b.WriteByte('\n')
		for _, object := range wave.Objects {
			meta := object.(metav1.Object)
			fmt.Fprintf(&b, "  %s %s", object.GetObjectKind().GroupVersionKind().Kind, strings.TrimPrefix(meta.GetNamespace()+"/"+meta.GetName(), "/"))
			template, replicas, ok := podsOf(object)
			if budget, is := object.(*policyv1.PodDisruptionBudget); is {
				fmt.Fprintf(&b, " of %s, at most %s unavailable", mapText(budget.Spec.Selector.MatchLabels), budget.Spec.MaxUnavailable)
			}
			if !ok {
				b.WriteByte('\n')
				continue
			}
			fmt.Fprintf(&b, " x %d", replicas)
			if job, ok := object.(*batchv1.Job); ok {
				fmt.Fprintf(&b, " until %d are done", *job.Spec.Completions)
			}
			describeTemplate(&b, template)
		}
	}
	return b.String()
}

func describeTemplate(b *strings.Builder, template *corev1.PodTemplateSpec) {
	container := template.Spec.Containers[0]
	fmt.Fprintf(b, "\n    labels %s\n    annotations %s\n    priority class %s, restarts %s, runs %s\n", mapText(template.Labels),
		mapText(template.Annotations), template.Spec.PriorityClassName, template.Spec.RestartPolicy, container.Image)
	if len(template.Spec.NodeSelector) > 0 {
		fmt.Fprintf(b, "    on %s\n", mapText(template.Spec.NodeSelector))
	}
	fmt.Fprintf(b, "    requests %s\n    limits %s\n", resourceText(container.Resources.Requests), resourceText(container.Resources.Limits))
}

func resourceText(list corev1.ResourceList) string {
	texts := map[string]string{}
	for name, quantity := range list {
		texts[string(name)] = quantity.String()
	}
	return mapText(texts)
}

func mapText(set map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, key+"="+set[key])
	}
	return strings.Join(parts, " ")
}
