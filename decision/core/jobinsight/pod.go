package jobinsight

import (
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

// Labels that Spark gives its pods.
const (
	// LabelSparkApplication is the name of the application.
	LabelSparkApplication = "spark-app-name"
	labelSparkRole        = "spark-role"
	sparkExecutor         = "executor"
)

// perRun is what makes the names of Jobs different: the scheduled time that a CronJob appends, or what generateName does.
var perRun = regexp.MustCompile(`-(\d{8,10}|[bcdfghjklmnpqrstvwxz2456789]{5})$`)

// KindOf is the kind of job that a pod runs; false for a pod that is no job: it belongs to no Job, is not of Spark, and has no
// annotation that names its application.
func KindOf(pod *corev1.Pod) (Kind, bool) {
	kind := Kind{User: pod.Namespace, Queue: pod.Labels[extension.LabelQuotaName], Shape: pod.Labels[labelSparkRole]}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		switch owner.Kind {
		case "Job":
			kind.Application = perRun.ReplaceAllString(owner.Name, "")
		case "CronJob": // of a manifest: in a cluster, there is a Job between them
			kind.Application = owner.Name
		}
	}
	if application := pod.Labels[LabelSparkApplication]; application != "" && kind.Shape != "" {
		kind.Application = application
	}
	for annotation, field := range kind.annotations() {
		if value := pod.Annotations[annotation]; value != "" {
			*field = value
		}
	}
	return kind, kind.Application != ""
}

// annotations that name the fields of the kind.
func (k *Kind) annotations() map[string]*string {
	return map[string]*string{
		extension.AnnotationJobUser: &k.User, extension.AnnotationJobQueue: &k.Queue,
		extension.AnnotationJobApplication: &k.Application, extension.AnnotationJobShape: &k.Shape,
	}
}

// PodOf is a pod that stands for a run of a kind, for forecasts of what is no pod. It is named after the application.
func PodOf(kind Kind) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: kind.Application, Annotations: map[string]string{}}}
	for annotation, field := range kind.annotations() {
		if *field != "" {
			pod.Annotations[annotation] = *field
		}
	}
	return pod
}

// StartOf is when the first container of a pod started; zero before. A container that was restarted has lost when it started first: then, and
// where no status says it, it is when the kubelet accepted the pod.
func StartOf(pod *corev1.Pod) time.Time {
	var first time.Time
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		at := metav1.Time{}
		switch {
		case status.RestartCount > 0:
			if pod.Status.StartTime != nil {
				at = *pod.Status.StartTime
			}
		case status.State.Running != nil:
			at = status.State.Running.StartedAt
		case status.State.Terminated != nil:
			at = status.State.Terminated.StartedAt
		}
		if !at.IsZero() && (first.IsZero() || at.Time.Before(first)) {
			first = at.Time
		}
	}
	if first.IsZero() && pod.Status.StartTime != nil && pod.Status.Phase != corev1.PodPending {
		return pod.Status.StartTime.Time
	}
	return first
}

// EndOf is when the last container of a pod ended and how; false for a pod that has not ended.
func EndOf(pod *corev1.Pod) (time.Time, Outcome, bool) {
	var last time.Time
	outOfMemory := false
	for i := range pod.Status.ContainerStatuses {
		ended := pod.Status.ContainerStatuses[i].State.Terminated
		if ended == nil {
			continue
		}
		outOfMemory = outOfMemory || ended.Reason == "OOMKilled"
		if ended.FinishedAt.After(last) {
			last = ended.FinishedAt.Time
		}
	}
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return last, Completed, true
	case pod.Status.Phase != corev1.PodFailed:
		return time.Time{}, "", false
	case outOfMemory:
		return last, OOMKilled, true
	case disrupted(pod) || pod.Status.Reason == "Evicted" || pod.Status.Reason == "DeadlineExceeded":
		return last, Killed, true
	}
	return last, Failed, true
}

// OutcomeOfDeleted is how a pod ended that was deleted before its end was seen. A Spark driver deletes its executors once it needs them
// no more, which is how these complete.
func OutcomeOfDeleted(last *corev1.Pod) Outcome {
	if last.Labels[labelSparkRole] == sparkExecutor && !disrupted(last) {
		return Completed
	}
	return Killed
}

// disrupted says whether the pod was preempted, evicted, or deleted with its node.
func disrupted(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
