package objects

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// web is a pod of ReplicaSet web that runs, is ready, and requests 1 cpu and 1 GiB.
func web(name, on string, edits ...func(*corev1.Pod)) *corev1.Pod {
	return pod(name, on, resources("cpu", "1", "memory", "1Gi"), append([]func(*corev1.Pod){ofController("ReplicaSet", "web"), labelled("app", "web"), readyPod}, edits...)...)
}

func readyPod(p *corev1.Pod) {
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func unreadyPod(p *corev1.Pod) {
	p.Status.Phase, p.Status.Conditions = corev1.PodRunning, nil
}

// ofController makes an object of apps/v1 the only controller of a pod.
func ofController(kind, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID(kind + "/" + name), Controller: new(true)}}
	}
}

func bare(p *corev1.Pod) { p.OwnerReferences = nil }

func labelled(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[key] = value
	}
}

func annotated(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[key] = value
	}
}

func ofPriority(priority int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Priority = &priority }
}

func inNamespace(namespace string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Namespace = namespace }
}

func inPhase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase, p.Status.Conditions = phase, nil }
}

func terminating(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Minute)} }

func mirrored(p *corev1.Pod) {
	bare(p)
	annotated(corev1.MirrorPodAnnotationKey, "abc")(p)
}

func withEmptyDir(p *corev1.Pod) {
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
}

func toleratesAll(p *corev1.Pod) {
	p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
}

func requesting(pairs ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = resources(pairs...) }
}

func readyNode(n *corev1.Node) {
	n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue})
}

// budgetOf selects the pods of namespace shop with a label app. It knows of 3 pods, all healthy, and lets some of them go at a time.
func budgetOf(app string, allowed int32, edits ...func(*policyv1.PodDisruptionBudget)) policyv1.PodDisruptionBudget {
	b := policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: app + "-budget", Generation: 1},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: allowed, ExpectedPods: 3, CurrentHealthy: 3, DesiredHealthy: 3 - allowed},
	}
	for _, edit := range edits {
		edit(&b)
	}
	return b
}

func named(name string) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) { b.Name = name }
}

// quotaUsing lists a namespace, and reports what it uses and may use; an empty runtime is not reported.
func quotaUsing(name, namespace, used, runtime string) schedulingsigsv1alpha1.ElasticQuota {
	q := schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "teams", Name: name, Annotations: map[string]string{
		extension.AnnotationQuotaNamespaces: `["` + namespace + `"]`,
	}}}
	q.Status.Used = resources("cpu", used)
	if runtime != "" {
		q.Annotations[extension.AnnotationQuotaRuntime] = runtime
	}
	return q
}

// usageOf is a NodeMetric by which pods of namespace shop use so much cpu each, with 100 MiB, and the node uses 2 cpu and 1 GiB.
func usageOf(on string, age time.Duration, podCPU map[string]string) slov1alpha1.NodeMetric {
	m := metric(on, age, "2")
	for name, cpu := range podCPU {
		m.Status.PodsMetric = append(m.Status.PodsMetric, &slov1alpha1.PodMetricInfo{
			Namespace: "shop", Name: name, PodUsage: slov1alpha1.ResourceMap{ResourceList: resources("cpu", cpu, "memory", "100Mi")},
		})
	}
	return m
}

// shuffled is a copy of a list in another order.
func shuffled[T any](t *rapid.T, list []T, label string) []T {
	return rapid.Permutation(list).Draw(t, label)
}

// sorted is a sorted copy of names.
func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
