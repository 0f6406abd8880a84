package gang

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

var (
	start    = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	defaults = Defaults{WaitTime: DefaultWaitTime, MatchPolicy: extension.GangMatchPolicyOnceSatisfied}
)

func keyOf(name string) Key { return Key{Namespace: "ns", Name: name} }

// podOf is a member of the gang that a PodGroup describes.
func podOf(gang string, index int) *corev1.Pod {
	name := fmt.Sprintf("%s-%d", gang, index)
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{extension.LabelPodGroup: gang},
		CreationTimestamp: metav1.NewTime(start.Add(time.Duration(index) * time.Second)),
	}}
}

func bound(pod *corev1.Pod) *corev1.Pod {
	placed := pod.DeepCopy()
	placed.Spec.NodeName = "n"
	return placed
}

// annotated is a member that brings the rules.
func annotatedPod(gang string, index int, minimum string, more ...string) *corev1.Pod {
	pod := podOf(gang, index)
	pod.Labels = nil
	pod.Annotations = map[string]string{extension.AnnotationGangName: gang, extension.AnnotationGangMinAvailable: minimum}
	for i := 0; i+1 < len(more); i += 2 {
		pod.Annotations[more[i]] = more[i+1]
	}
	return pod
}

func groupOfPods(name string, minimum int32, annotations ...string) *schedulingsigsv1alpha1.PodGroup {
	group := &schedulingsigsv1alpha1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, CreationTimestamp: metav1.NewTime(start), Annotations: map[string]string{}}}
	group.Spec.MinMember = minimum
	for i := 0; i+1 < len(annotations); i += 2 {
		group.Annotations[annotations[i]] = annotations[i+1]
	}
	return group
}

// bookOf has a gang described by a PodGroup, with pending members.
func bookOf(gang string, minimum int32, members int, annotations ...string) *Book {
	b := NewBook(defaults)
	add(b, gang, minimum, members, annotations...)
	return b
}

func add(b *Book, gang string, minimum int32, members int, annotations ...string) {
	b.SetGroup(FromGroup(groupOfPods(gang, minimum, annotations...), defaults))
	for i := range members {
		b.Observe(podOf(gang, i))
	}
}

func uidOf(gang string, index int) types.UID { return podOf(gang, index).UID }

func permit(b *Book, gang string, index int) Permission {
	return b.Permit(keyOf(gang), uidOf(gang, index), "n")
}
