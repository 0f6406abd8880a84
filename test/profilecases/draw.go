package profilecases

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// labelKeys are few, so that profiles meet each other.
var labelKeys = []string{"a", "b", "c", extension.LabelPodQoS, extension.LabelPodPriorityClass, "example.com/d"}

var values = []string{"", "x", "y", "x-s", "BE", "LS", "koord-batch", "koord-mid", "koord-free", `"quoted\`}

// BatchProfile makes every pod a batch pod.
func BatchProfile() []configv1alpha1.ClusterColocationProfile {
	return []configv1alpha1.ClusterColocationProfile{{
		ObjectMeta: metav1.ObjectMeta{Name: "batch"},
		Spec:       configv1alpha1.ClusterColocationProfileSpec{QoSClass: "BE", PriorityClassName: "koord-batch"},
	}}
}

func drawMap(t *rapid.T, name string, keys, values []string) map[string]string {
	return rapid.MapOfN(rapid.SampledFrom(keys), rapid.SampledFrom(values), 0, 3).Draw(t, name)
}

func drawList(t *rapid.T, name string) corev1.ResourceList {
	list := corev1.ResourceList{}
	amounts := rapid.SampledFrom([]string{"0", "1", "1m", "1500m", "250m", "3k", "2500e-3", "1e3", "64Mi", "1Gi", "999999999m", "9P", "9000000000000001", "8E"})
	names := []string{"cpu", "memory", "kubernetes.io/batch-cpu", "kubernetes.io/mid-memory", "nvidia.com/gpu"}
	for _, resourceName := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(t, name) {
		amount := "2"
		if resourceName == "cpu" || resourceName == "memory" {
			amount = amounts.Draw(t, name+" "+resourceName)
		}
		list[corev1.ResourceName(resourceName)] = resource.MustParse(amount)
	}
	return list
}

// DrawPod draws a pod as admission sees it.
func DrawPod(t *rapid.T) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Labels = drawMap(t, "labels", labelKeys, values)
	pod.Annotations = drawMap(t, "annotations", []string{"a", "b", "note"}, values)
	pod.Spec.PriorityClassName = rapid.SampledFrom([]string{"", "koord-prod", "koord-mid", "koord-batch"}).Draw(t, "class")
	for i := range rapid.IntRange(1, 3).Draw(t, "containers") {
		container := corev1.Container{Name: fmt.Sprintf("c%d", 3-i)}
		container.Resources.Limits = drawList(t, "limits")
		container.Resources.Requests = drawList(t, "requests")
		if rapid.Bool().Draw(t, "init") && i > 0 {
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
		} else {
			pod.Spec.Containers = append(pod.Spec.Containers, container)
		}
	}
	complete(pod)
	return pod
}

// DrawProfiles draws up to three profiles without probabilities.
func DrawProfiles(t *rapid.T) []configv1alpha1.ClusterColocationProfile {
	var profiles []configv1alpha1.ClusterColocationProfile
	for i := range rapid.IntRange(0, 3).Draw(t, "profiles") {
		profile := configv1alpha1.ClusterColocationProfile{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%d", 9-i)}}
		if rapid.IntRange(0, 5).Draw(t, "skips") == 0 {
			profile.Annotations = map[string]string{extension.AnnotationSkipUpdateResources: "true"}
		}
		profile.Spec = drawSpec(t)
		profiles = append(profiles, profile)
	}
	return profiles
}

func drawSpec(t *rapid.T) configv1alpha1.ClusterColocationProfileSpec {
	spec := configv1alpha1.ClusterColocationProfileSpec{
		Labels: drawMap(t, "set", labelKeys, values), Annotations: drawMap(t, "annotate", []string{"a", "note"}, values),
		AnnotationKeysMapping: drawMap(t, "map annotations", []string{"b"}, []string{"e"}),
		QoSClass:              rapid.SampledFrom([]string{"", "", "BE", "LS", "LSR"}).Draw(t, "qos"),
		PriorityClassName:     rapid.SampledFrom([]string{"", "koord-batch", "koord-mid", "koord-free"}).Draw(t, "priority class"),
		SchedulerName:         rapid.SampledFrom([]string{"", "koord-scheduler"}).Draw(t, "scheduler"),
	}
	if rapid.Bool().Draw(t, "maps") {
		spec.LabelKeysMapping = drawMap(t, "map labels", labelKeys, []string{"e", "f", "a"})
		spec.LabelSuffixes = drawMap(t, "suffixes", []string{"a", "g"}, []string{"-s", "-t"})
	}
	if rapid.Bool().Draw(t, "selects") {
		operator := rapid.SampledFrom([]metav1.LabelSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist"}).Draw(t, "operator")
		requirement := metav1.LabelSelectorRequirement{Key: rapid.SampledFrom(labelKeys).Draw(t, "key"), Operator: operator}
		if operator == "In" || operator == "NotIn" {
			requirement.Values = []string{"x", "BE"}
		}
		spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{requirement}}
	}
	if rapid.Bool().Draw(t, "patches") {
		spec.Patch = runtime.RawExtension{Raw: []byte(`{"metadata":{"labels":{"h":"1","c":null}}}`)}
	}
	return spec
}
