package recommender

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/core/podresize"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// significant is the change of a target, in percent, that is published at once; smaller ones wait for the next checkpoint.
const significant = 10

// statusOf is the status that a workload deserves now.
func statusOf(r *analysisv1alpha1.Recommendation, w *workload, pods []*corev1.Pod, at time.Time) (analysisv1alpha1.RecommendationStatus, error) {
	out := analysisv1alpha1.RecommendationStatus{UpdateTime: secondsOf(at), Conditions: slices.Clone(r.Status.Conditions)}
	out.Checkpoint = &analysisv1alpha1.RecommendationCheckpoint{ObservedGeneration: r.Generation}
	names := namesOf(pods, r)
	confidence := -1.0
	for _, name := range slices.Sorted(maps.Keys(w.containers)) {
		checkpoint, err := w.containers[name].Checkpoint(name)
		if err != nil {
			return out, err
		}
		out.Checkpoint.Containers = append(out.Checkpoint.Containers, checkpoint)
		advised, ok := w.advised[name]
		if !ok {
			continue
		}
		if confidence < 0 || advised.Confidence < confidence {
			confidence = advised.Confidence
		}
		if out.PodStatus == nil {
			out.PodStatus = &analysisv1alpha1.RecommendedPodStatus{}
		}
		out.PodStatus.ContainerStatuses = append(out.PodStatus.ContainerStatuses, containerStatus(name, advised, names[name]))
	}
	for uid, applied := range w.applied {
		out.Checkpoint.Applied = append(out.Checkpoint.Applied, analysisv1alpha1.AppliedResize{PodUID: uid, Time: *secondsOf(applied)})
	}
	slices.SortFunc(out.Checkpoint.Applied, func(a, b analysisv1alpha1.AppliedResize) int {
		if order := a.Time.Compare(b.Time.Time); order != 0 {
			return order
		}
		if a.PodUID < b.PodUID {
			return -1
		}
		return 1
	})
	conditions(&out, r, pods, w.evidence(confidence), at)
	autoscaled(&out, r, w.held, at)
	return out, nil
}

func containerStatus(name string, advised recommend.Recommendation, names recommend.Names) analysisv1alpha1.RecommendedContainerStatus {
	if names == (recommend.Names{}) {
		names = recommend.Names{CPU: corev1.ResourceCPU, Memory: corev1.ResourceMemory}
	}
	return analysisv1alpha1.RecommendedContainerStatus{
		ContainerName: name,
		Resources:     names.List(advised.CPU.Target, advised.Memory.Target),
		LowerBound:    names.List(advised.CPU.Lower, advised.Memory.Lower),
		UpperBound:    names.List(advised.CPU.Upper, advised.Memory.Upper),
	}
}

// namesOf is by which resources each container is recommended: those it requests, or those recommended before when it does
// not run.
func namesOf(pods []*corev1.Pod, r *analysisv1alpha1.Recommendation) map[string]recommend.Names {
	out := map[string]recommend.Names{}
	if r.Status.PodStatus != nil {
		for _, status := range r.Status.PodStatus.ContainerStatuses {
			c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: status.Resources}}
			out[status.ContainerName] = recommend.NamesOf(&c)
		}
	}
	for _, pod := range pods {
		for _, c := range podresize.Containers(pod) {
			out[c.Name] = recommend.NamesOf(c)
		}
	}
	return out
}

// evidence is what the recommendation of a workload rests on.
type evidence struct {
	// confidence is that of the container with the least; negative for none.
	confidence float64
	// runs of a job; nil for other workloads.
	runs *int64
}

func (w *workload) evidence(confidence float64) evidence {
	out := evidence{confidence: confidence}
	for _, container := range w.containers {
		if container.Job != nil {
			out.runs = &container.Job.Runs
		}
	}
	return out
}

func (e evidence) message() string {
	switch {
	case e.confidence < 0:
		return "no usage samples yet"
	case e.runs != nil:
		return fmt.Sprintf("fewer than %d runs of the job: %d", recommend.ConfidentRuns, *e.runs)
	}
	return fmt.Sprintf("less than a day of usage samples: %.1f hours", float64(int(e.confidence*240))/10)
}

// conditions says how far to trust the recommendation.
func conditions(s *analysisv1alpha1.RecommendationStatus, r *analysisv1alpha1.Recommendation, pods []*corev1.Pod, on evidence, at time.Time) {
	set := func(kind string, holds bool, reason, otherwise, message string) {
		c := metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, Reason: otherwise, ObservedGeneration: r.Generation, LastTransitionTime: *secondsOf(at),
		}
		if holds {
			c.Status, c.Reason, c.Message = metav1.ConditionTrue, reason, message
		}
		meta.SetStatusCondition(&s.Conditions, c)
	}
	set(analysisv1alpha1.RecommendationConditionNoObjectsMatched, len(pods) == 0, "NoPods", "PodsMatched",
		"no pod of the target is running")
	set(analysisv1alpha1.RecommendationConditionLowConfidence, on.confidence < 1, "FewSamples", "EnoughSamples", on.message())
	several := slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return len(podresize.Containers(p)) > 1 })
	set(analysisv1alpha1.RecommendationConditionApportioned, several, "SeveralContainers", "OneContainer",
		"usage is measured per pod and divided among its containers by their requests")
}

// autoscaled says what is left to autoscalers, by whose kinds the reason changes.
func autoscaled(s *analysisv1alpha1.RecommendationStatus, r *analysisv1alpha1.Recommendation, held []recommend.Hold, at time.Time) {
	if len(held) == 0 {
		meta.RemoveStatusCondition(&s.Conditions, analysisv1alpha1.RecommendationConditionAutoscaled)
		return
	}
	reason := held[0].Kind
	if slices.ContainsFunc(held, func(h recommend.Hold) bool { return h.Kind != reason }) {
		reason = "Autoscalers"
	}
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type: analysisv1alpha1.RecommendationConditionAutoscaled, Status: metav1.ConditionTrue, Reason: reason, ObservedGeneration: r.Generation,
		LastTransitionTime: *secondsOf(at), Message: recommend.HoldsMessage(held),
	})
}

// worthWriting reports whether a status changed: other containers or conditions, a target that moved, pods that
// were resized, or anything learned since the last checkpoint when that is due.
func worthWriting(old, now *analysisv1alpha1.RecommendationStatus, due bool) bool {
	if due || !sameConditions(old.Conditions, now.Conditions) || !sameApplied(old.Checkpoint, now.Checkpoint) {
		return true
	}
	before, after := containersOf(old), containersOf(now)
	if len(before) != len(after) {
		return true
	}
	for i := range after {
		if before[i].ContainerName != after[i].ContainerName || moved(before[i].Resources, after[i].Resources) {
			return true
		}
	}
	return false
}

func containersOf(s *analysisv1alpha1.RecommendationStatus) []analysisv1alpha1.RecommendedContainerStatus {
	if s.PodStatus == nil {
		return nil
	}
	return s.PodStatus.ContainerStatuses
}

// moved says whether any amount differs significantly.
func moved(before, after corev1.ResourceList) bool {
	for name, quantity := range after {
		old, ok := before[name]
		difference := quantity.AsApproximateFloat64() - old.AsApproximateFloat64()
		if !ok || max(difference, -difference)*100 > significant*old.AsApproximateFloat64() {
			return true
		}
	}
	return len(before) != len(after)
}

// sameConditions compares all but the messages, which count up.
func sameConditions(before, after []metav1.Condition) bool {
	return slices.EqualFunc(before, after, func(a, b metav1.Condition) bool {
		return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.ObservedGeneration == b.ObservedGeneration
	})
}

func sameApplied(before, after *analysisv1alpha1.RecommendationCheckpoint) bool {
	if before == nil || after == nil {
		return before == after
	}
	return slices.EqualFunc(before.Applied, after.Applied, func(a, b analysisv1alpha1.AppliedResize) bool {
		return a.PodUID == b.PodUID && a.Time.Equal(&b.Time)
	})
}
