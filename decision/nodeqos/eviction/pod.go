package eviction

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Ref names a pod, or a container of a scheduler outside of Kubernetes.
type Ref struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// Agent that a container belongs to; empty for a pod.
	Agent string `json:"agent,omitempty"`
}

// String is namespace/name.
func (r Ref) String() string { return r.Namespace + "/" + r.Name }

// Pod is what evictions look at of one pod.
type Pod struct {
	Ref
	// QoS is the class in the pod's label; BE also for pods without a label that Kubernetes runs as best effort.
	QoS extension.QoSClass `json:"qos,omitempty"`
	// Band is the pod's priority band, and Priority its spec.priority, or the default of its band.
	Band     extension.PriorityClass `json:"band,omitempty"`
	Priority int32                   `json:"priority"`
	// EvictionPriority is the annotation that orders victims first of all; SubPriority the label that orders them within one
	// priority, which is the priority itself where there is no label.
	EvictionPriority int32 `json:"evictionPriority,omitempty"`
	SubPriority      int64 `json:"subPriority,omitempty"`
	// Agrees is the label eviction-enabled.
	Agrees bool `json:"agrees,omitempty"`
	// Allowed features by the annotation eviction-policy; nil for all.
	Allowed map[Feature]bool `json:"allowed,omitempty"`
	// Critical says why no feature may take the pod; empty for most pods.
	Critical string `json:"critical,omitempty"`
	// Active pods are neither succeeded nor failed.
	Active bool `json:"active"`
	// Leaving pods were evicted or deleted and are still there, LeavingSince then; a zero time is just now.
	Leaving      bool      `json:"leaving,omitempty"`
	LeavingSince time.Time `json:"leavingSince,omitempty,omitzero"`
	// Refused says what became of asking for its eviction a moment ago.
	Refused Refusal `json:"refused,omitempty"`
	// Requests by tier.
	Requests podrequest.Tiers `json:"requests"`
	// Used right now; nil when it was not measured.
	Used *podrequest.Amount `json:"used,omitempty"`
	// Job is when the pod's job started and how long it is expected to take; nil where nothing was predicted, or it has not started.
	Job *jobinsight.Progress `json:"job,omitempty"`
	// Work is what a container loses when it ends, in seconds of CPU time; 0 for pods, which are not ordered by it.
	Work float64 `json:"work,omitempty"`
}

// leastCritical is the priority from which Kubernetes takes pods to be critical.
const leastCritical = 2_000_000_000

// Annotations by which the kubelet marks static pods.
const (
	annotationConfigSource = "kubernetes.io/config.source"
	annotationConfigMirror = "kubernetes.io/config.mirror"
)

// PodOf reads a pod; used is what it was measured to use, or nil. Values that cannot be read count as if they were absent,
// except for the annotation eviction-policy, which then allows no feature.
func PodOf(pod *corev1.Pod, used *podrequest.Amount) Pod {
	requests := podrequest.Of(pod)
	out := Pod{
		Ref: Ref{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID)},
		QoS: qosOf(pod), Band: requests.Band, Priority: priorityOf(pod, requests.Band),
		Agrees: extension.IsPodEvictEnabled(pod.Labels), Allowed: allowedFeatures(pod.Annotations), Critical: criticalReason(pod),
		Active: podrequest.Consumes(pod), Requests: requests.Requests, Used: used, Job: jobinsight.ProgressOf(pod),
	}
	out.EvictionPriority, _ = extension.EvictionPriority(pod.Annotations)
	out.SubPriority = int64(out.Priority)
	if pod.Labels[extension.LabelPodPriority] != "" {
		if below, err := extension.PodSubPriority(pod.Labels); err == nil {
			out.SubPriority = below
		}
	}
	if pod.DeletionTimestamp != nil {
		out.Leaving, out.LeavingSince = true, pod.DeletionTimestamp.Time
		if grace := pod.DeletionGracePeriodSeconds; grace != nil {
			out.LeavingSince = out.LeavingSince.Add(-time.Duration(*grace) * time.Second)
		}
	}
	return out
}

// qosOf is the class that decides over evictions. A Guaranteed pod without a label has none: it is protected by not
// agreeing, and one that agrees is taken at its word.
func qosOf(pod *corev1.Pod) extension.QoSClass {
	class := extension.PodQoSClass(pod)
	if class == extension.QoSNone && extension.KubeQOSClass(pod) == corev1.PodQOSBestEffort {
		return extension.QoSBE
	}
	return class
}

func priorityOf(pod *corev1.Pod, band extension.PriorityClass) int32 {
	if pod.Spec.Priority != nil {
		return *pod.Spec.Priority
	}
	bounds, _ := band.Band()
	return bounds.Default
}

// allowedFeatures reads the annotation eviction-policy; nil without one.
func allowedFeatures(annotations map[string]string) map[Feature]bool {
	if _, exists := annotations[extension.AnnotationPodEvictPolicy]; !exists {
		return nil
	}
	out := map[Feature]bool{}
	for _, feature := range Features() {
		allowed, err := extension.IsEvictionAllowed(annotations, string(feature))
		out[feature] = allowed && err == nil
	}
	return out
}

func criticalReason(pod *corev1.Pod) string {
	source := pod.Annotations[annotationConfigSource]
	_, mirror := pod.Annotations[annotationConfigMirror]
	switch {
	case mirror || source != "" && source != "api":
		return "it is a static pod"
	case pod.Spec.Priority != nil && *pod.Spec.Priority >= leastCritical,
		pod.Spec.PriorityClassName == "system-node-critical", pod.Spec.PriorityClassName == "system-cluster-critical":
		return "it is a critical pod"
	}
	return ""
}
