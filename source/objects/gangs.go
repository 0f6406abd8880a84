package objects

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/source"
)

// Gangs joins PodGroups and pods, by the rules of plugin Coscheduling. A gang that its pods describe has the rules of the oldest one.
func Gangs(groups []schedulingsigsv1alpha1.PodGroup, pods []corev1.Pod, now time.Time) []source.Gang {
	defaults := gang.Defaults{WaitTime: gang.DefaultWaitTime, MatchPolicy: extension.GangMatchPolicyOnceSatisfied}
	members := map[gang.Key][]*corev1.Pod{}
	for i := range pods {
		if key, in := gang.KeyOf(&pods[i]); in {
			members[key] = append(members[key], &pods[i])
		}
	}
	objects := map[gang.Key]*schedulingsigsv1alpha1.PodGroup{}
	for i := range groups {
		key := gang.Key{Namespace: groups[i].Namespace, Name: groups[i].Name}
		objects[key] = &groups[i]
		if _, found := members[key]; !found {
			members[key] = nil // a gang without pods
		}
	}
	out := make([]source.Gang, 0, len(members))
	for key, of := range members {
		out = append(out, gangOf(key, objects[key], of, defaults, now))
	}
	slices.SortFunc(out, func(a, b source.Gang) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func gangOf(key gang.Key, object *schedulingsigsv1alpha1.PodGroup, pods []*corev1.Pod, defaults gang.Defaults, now time.Time) source.Gang {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	out := source.Gang{Key: key}
	switch {
	case object != nil:
		out.Spec = gang.FromGroup(object, defaults)
	default:
		out.Spec = gang.FromPod(pods[0], defaults)
		object = &schedulingsigsv1alpha1.PodGroup{}
		if out.Spec != nil {
			object.Spec.MinMember = out.Spec.MinMember
		}
	}
	out.Status = gang.StatusOf(object, pods, metav1.NewTime(now))
	out.Status.ScheduleStartTime = object.Status.ScheduleStartTime // when scheduling began is known only where it is recorded
	for _, pod := range pods {
		out.Members = append(out.Members, source.GangMember{Name: pod.Name, NodeName: pod.Spec.NodeName, Phase: pod.Status.Phase, Refusal: refusalOf(pod)})
	}
	slices.SortFunc(out.Members, func(a, b source.GangMember) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// refusalOf is why a pod has no node, as its condition says.
func refusalOf(pod *corev1.Pod) string {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}
