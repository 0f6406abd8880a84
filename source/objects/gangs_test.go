package objects

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func TestGangsJoinPodGroupsAndPods(t *testing.T) {
	member := func(name, node string, edit func(*corev1.Pod)) corev1.Pod {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}, Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
		if node != "" {
			pod.Status.Phase = corev1.PodRunning
		} else {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "no room"}}
		}
		edit(&pod)
		return pod
	}
	grouped := func(p *corev1.Pod) { p.Labels = map[string]string{extension.LabelPodGroup: "train"} }
	described := func(p *corev1.Pod) {
		p.Annotations = map[string]string{extension.AnnotationGangName: "sweep", extension.AnnotationGangMinAvailable: "2"}
	}
	lost := func(p *corev1.Pod) { p.Labels = map[string]string{extension.LabelPodGroup: "gone"} }
	groups := []schedulingsigsv1alpha1.PodGroup{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train"}, Spec: schedulingsigsv1alpha1.PodGroupSpec{MinMember: 2}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "empty"}, Spec: schedulingsigsv1alpha1.PodGroupSpec{MinMember: 3}},
	}
	pods := []corev1.Pod{
		member("b", "", grouped), member("a", "node-1", grouped), member("s-0", "node-1", described), member("s-1", "node-1", described),
		member("l", "", lost), member("alone", "node-1", func(*corev1.Pod) {}),
	}
	var got []string
	for _, g := range Gangs(groups, pods, time.Now()) {
		line := fmt.Sprintf("%s %s", g.Name, g.Status.Phase)
		if g.Spec == nil {
			line += " without rules"
		} else {
			line += fmt.Sprintf(" of %d by %s", g.Spec.MinMember, g.Spec.Source)
		}
		for _, m := range g.Members {
			line += " " + m.Name + m.Refusal
		}
		got = append(got, line)
	}
	want := []string{
		"empty Pending of 3 by PodGroup", "gone PreScheduling without rules lno room", "sweep Running of 2 by annotations s-0 s-1", "train Scheduling of 2 by PodGroup a bno room",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gangs (-want +got):\n%s", diff)
	}
}
