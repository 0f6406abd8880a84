package invariants

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// ganged is a member, by annotations, of a gang of two in a group of two; bound if it has a node.
func ganged(name, gang, node string) *corev1.Pod {
	pod := podOf(name)
	pod.Annotations = map[string]string{
		extension.AnnotationGangName: gang, extension.AnnotationGangMinAvailable: "2", extension.AnnotationGangGroups: `["ns/left","ns/right"]`,
	}
	pod.Spec.NodeName = node
	return pod
}

func TestAGroupOfGangsIsWholeTogether(t *testing.T) {
	const long = GangGrace + time.Second
	for name, test := range map[string]struct {
		pods []*corev1.Pod
		want string
	}{
		"both gangs bound": {pods: []*corev1.Pod{ganged("a", "left", "n1"), ganged("b", "left", "n1"), ganged("c", "right", "n1"), ganged("d", "right", "n1")}},
		"none bound":       {pods: []*corev1.Pod{ganged("a", "left", ""), ganged("c", "right", "")}},
		"one gang bound, and the other not": {
			pods: []*corev1.Pod{ganged("a", "left", "n1"), ganged("b", "left", "n1"), ganged("c", "right", "")},
			want: "2 pods are bound, and 0 of ns/right of its group, minMember is 2",
		},
		"one gang bound, and the other without pods": {
			pods: []*corev1.Pod{ganged("a", "left", "n1"), ganged("b", "left", "n1")}, want: "2 pods are bound, and ns/right of its group has no pods",
		},
		"one gang bound in part": {pods: []*corev1.Pod{ganged("a", "left", "n1")}, want: "1 of 1 pods are bound, minMember is 2"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			for _, pod := range test.pods {
				p.put(t, "pods", pod)
			}
			p.none(t)
			p.clock = p.clock.Add(long)
			if test.want == "" {
				p.none(t)
			} else {
				expect(t, p.Violations(), GangWhole, test.want)
			}
			if got := p.Seen().LongestPart; (got >= long) != (test.want != "") {
				t.Errorf("the longest part was bound for %s", got)
			}
		})
	}
}

func TestAGangOfTheSameNameBeginsAnew(t *testing.T) {
	p := newPlay(t)
	alone := func(name string) *corev1.Pod {
		pod := ganged(name, "g", "n1")
		delete(pod.Annotations, extension.AnnotationGangGroups)
		return pod
	}
	for _, name := range []string{"a", "b"} {
		p.put(t, "pods", alone(name))
	}
	if got := p.Seen().Gangs; got != 1 {
		t.Errorf("%d gangs became whole, want 1", got)
	}
	for _, name := range []string{"a", "b"} {
		p.drop(t, "pods", alone(name))
	}
	p.put(t, "pods", alone("c"))
	p.clock = p.clock.Add(GangGrace + time.Second)
	expect(t, p.Violations(), GangWhole, "1 of 1 pods are bound, minMember is 2")
}

func TestStatusesOfGangsAreComparedWithPods(t *testing.T) {
	group := &schedulingsigsv1alpha1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "g"}}
	gang := Gang{Name: "ns/g", MinMember: 1, Members: []*corev1.Pod{podOf("a")}}
	expect(t, gang.StatusAgrees(group), CachesAgree, "says that 0 pods are bound, 1 are")
	group.Status.Scheduled = 1
	if got := gang.StatusAgrees(group); len(got) > 0 {
		t.Error(got)
	}
}
