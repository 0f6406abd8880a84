package fixes

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/kubectl"
)

// halve carries out half of each number that a fix changes, and expects that a pod like the blocked one is refused all the same.
func (s scene) halve(t *testing.T, fix *diagnosticsv1alpha1.Fix) {
	t.Helper()
	pod, err := s.asked(t)
	if _, name, another := strings.Cut(fix.PodName, "/"); another {
		pod, err = client.CoreV1().Pods(s.namespace).Get(t.Context(), name, metav1.GetOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	twin := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "half", Namespace: s.namespace, Labels: pod.Labels, Annotations: pod.Annotations}, Spec: pod.Spec,
	}
	halves := 0
	if fix.Manifest != "" {
		halves += halfOfManifest(t, twin, fix.Manifest)
	}
	for _, step := range fix.Steps {
		switch {
		case step.PatchType == "application/merge-patch+json" && step.Resource == "elasticquotas":
			halves += halfOfPatch(t, step)
		case step.PatchType == "application/strategic-merge-patch+json":
			halves += halfOfTemplate(t, twin, step)
		case strings.Contains(step.Patch, extension.AnnotationCustomUsageThresholds):
			halves += halfOfThresholds(t, step)
		}
	}
	if halves == 0 {
		t.Fatalf("no number in %+v", fix)
	}
	text, err := yaml.Marshal(twin)
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, string(text), "kubectl create -f -")
	awaitRefusal(t, s.namespace, twin.Name)
	mustRun(t, "", "kubectl delete pod --force --grace-period 0 -n "+s.namespace+" "+twin.Name)
}

// halfOfManifest gives a pod half of the way from its requests and limits to those of a manifest, and counts them.
func halfOfManifest(t *testing.T, pod *corev1.Pod, manifest string) int {
	t.Helper()
	made := &corev1.Pod{}
	if err := yaml.Unmarshal([]byte(manifest), made); err != nil {
		t.Fatal(err)
	}
	return halfOfSpec(pod, &made.Spec)
}

// halfOfTemplate does the same with the template that a patch would make.
func halfOfTemplate(t *testing.T, pod *corev1.Pod, step diagnosticsv1alpha1.FixStep) int {
	t.Helper()
	pod.Labels = nil // it would be taken over
	result, err := shell(t.Context(), "", step.Command+" --dry-run=server -o json")
	if err != nil || result.Code != 0 {
		t.Fatalf("%s: %v\n%s", step.Command, err, result.Stderr)
	}
	var made struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal([]byte(result.Stdout), &made); err != nil {
		t.Fatal(err)
	}
	for i := range made.Spec.Template.Spec.Containers { // as when a pod is made of it
		resources := &made.Spec.Template.Spec.Containers[i].Resources
		requests := maps.Clone(resources.Limits)
		if requests == nil {
			requests = corev1.ResourceList{}
		}
		maps.Copy(requests, resources.Requests)
		resources.Requests = requests
	}
	return halfOfSpec(pod, &made.Spec.Template.Spec)
}

func halfOfSpec(pod *corev1.Pod, made *corev1.PodSpec) int {
	halves := 0
	for i := range pod.Spec.Containers {
		from, to := &pod.Spec.Containers[i].Resources, made.Containers[i].Resources
		for name, before := range from.Requests {
			if after := to.Requests[name]; before.Cmp(after) != 0 {
				from.Requests[name] = midway(name, before, after)
				halves++
			}
		}
		for name, before := range from.Limits {
			if after := to.Limits[name]; before.Cmp(after) != 0 {
				from.Limits[name] = midway(name, before, after)
			}
		}
	}
	return halves
}

// halfOfPatch changes a quota half of the way from its bounds to those of a patch, and counts them.
func halfOfPatch(t *testing.T, step diagnosticsv1alpha1.FixStep) int {
	t.Helper()
	var patch struct {
		Spec map[string]corev1.ResourceList `json:"spec"`
	}
	if err := json.Unmarshal([]byte(step.Patch), &patch); err != nil {
		t.Fatal(err)
	}
	result, err := shell(t.Context(), "", fmt.Sprintf("kubectl get elasticquota -n %s %s -o json", step.Namespace, step.Name))
	if err != nil {
		t.Fatal(err)
	}
	halves, before := 0, patch
	before.Spec = nil
	if err := json.Unmarshal([]byte(result.Stdout), &before); err != nil {
		t.Fatalf("%v\n%s", err, result.Stdout)
	}
	for field, list := range patch.Spec {
		for name, after := range list {
			list[name] = midway(name, before.Spec[field][name], after)
			halves++
		}
	}
	mustRun(t, "", strings.TrimSpace(kubectl.Merge(kubectl.ElasticQuota(step.Namespace, step.Name), patch).Command))
	return halves
}

// halfOfThresholds raises the thresholds of a node half of the way to those of a patch, and counts them.
func halfOfThresholds(t *testing.T, step diagnosticsv1alpha1.FixStep) int {
	t.Helper()
	node, err := client.CoreV1().Nodes().Get(t.Context(), step.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	patched := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal([]byte(step.Patch), patched); err != nil {
		t.Fatal(err)
	}
	before, err := extension.GetCustomUsageThresholds(node.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	after, err := extension.GetCustomUsageThresholds(patched.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	halves := 0
	for name, percent := range after.UsageThresholds {
		if from := before.UsageThresholds[name]; from != percent {
			after.UsageThresholds[name] = (from + percent) / 2
			halves++
		}
	}
	if err := extension.SetCustomUsageThresholds(node, after); err != nil {
		t.Fatal(err)
	}
	value := node.Annotations[extension.AnnotationCustomUsageThresholds]
	mustRun(t, "", kubectl.Annotate(kubectl.Node(step.Name), map[string]*string{extension.AnnotationCustomUsageThresholds: &value}).Command)
	return halves
}

// midway is half of the way, in the unit that the resource is counted in. Between whole CPUs it is a whole number too, since a pod that
// owns CPUs may ask for nothing else: the one nearer to what was asked for before.
func midway(name corev1.ResourceName, before, after resource.Quantity) resource.Quantity {
	if name != corev1.ResourceCPU {
		return *resource.NewQuantity((before.Value()+after.Value())/2, after.Format)
	}
	from, to := before.MilliValue(), after.MilliValue()
	if from%1000 == 0 && to%1000 == 0 {
		return *resource.NewQuantity(from/1000+(to-from)/2000, after.Format)
	}
	return *resource.NewMilliQuantity((from+to)/2, resource.DecimalSI)
}
