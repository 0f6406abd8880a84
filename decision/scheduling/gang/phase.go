package gang

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// StatusOf a PodGroup with these pods, ended ones among them. What was there before is kept where pods no longer say it: who
// occupies the group, and when scheduling began. The group is
//
//	Pending        while fewer pods exist than must run together, and none ran
//	PreScheduling  while none has a node
//	Scheduling     while fewer have a node than must
//	Scheduled      while fewer run, or have succeeded, than must
//	Running        from then on
//	Finished       once as many as must have succeeded
//	Failed         when one failed, and the others that ran are enough to say that the group ran
func StatusOf(group *schedulingsigsv1alpha1.PodGroup, pods []*corev1.Pod, now metav1.Time) schedulingsigsv1alpha1.PodGroupStatus {
	status := schedulingsigsv1alpha1.PodGroupStatus{OccupiedBy: group.Status.OccupiedBy, ScheduleStartTime: group.Status.ScheduleStartTime}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" {
			status.Scheduled++
		}
		switch pod.Status.Phase {
		case corev1.PodRunning:
			status.Running++
		case corev1.PodSucceeded:
			status.Succeeded++
		case corev1.PodFailed:
			status.Failed++
		}
	}
	status.OccupiedBy = cmp.Or(status.OccupiedBy, occupant(pods))
	status.Phase = phaseOf(group, status, len(pods))
	if status.ScheduleStartTime.IsZero() && status.Phase != schedulingsigsv1alpha1.PodGroupPending {
		status.ScheduleStartTime = now
	}
	return status
}

func phaseOf(group *schedulingsigsv1alpha1.PodGroup, status schedulingsigsv1alpha1.PodGroupStatus, pods int) schedulingsigsv1alpha1.PodGroupPhase {
	minimum := max(group.Spec.MinMember, 1)
	ran := status.Running + status.Succeeded
	switch {
	case status.Succeeded >= minimum:
		return schedulingsigsv1alpha1.PodGroupFinished
	case status.Failed > 0 && ran+status.Failed >= minimum:
		return schedulingsigsv1alpha1.PodGroupFailed
	case ran >= minimum:
		return schedulingsigsv1alpha1.PodGroupRunning
	case status.Scheduled >= minimum:
		return schedulingsigsv1alpha1.PodGroupScheduled
	case pods < int(minimum) && status.Scheduled == 0:
		return schedulingsigsv1alpha1.PodGroupPending
	case status.Scheduled == 0:
		return schedulingsigsv1alpha1.PodGroupPreScheduling
	}
	return schedulingsigsv1alpha1.PodGroupScheduling
}

// occupant is the workload that the first pod, by name, belongs to: NAMESPACE/NAME of its owner, or of each owner.
func occupant(pods []*corev1.Pod) string {
	if len(pods) == 0 {
		return ""
	}
	first := slices.MinFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	var names []string
	for _, owner := range first.OwnerReferences {
		names = append(names, first.Namespace+"/"+owner.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}
