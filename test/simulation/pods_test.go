package simulation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func cpuOf(w *world) string { return fmt.Sprint(1 + w.random.IntN(3)) }

// demands are the ways in which a pod asks for a place.
var demands = []func(w *world, name string) *corev1.Pod{
	func(w *world, name string) *corev1.Pod {
		return newPod(name, 9500, amounts("cpu", pick(w.random, []string{"500m", "1", "2", "3500m"}), "memory", "1Gi"))
	},
	func(w *world, name string) *corev1.Pod { // of any priority, so that some give way to others
		return newPod(name, int32(9000+w.random.IntN(5)*100), amounts("cpu", cpuOf(w), "memory", "2Gi"))
	},
	func(w *world, name string) *corev1.Pod {
		pod := newPod(name, 5500, amounts("kubernetes.io/batch-cpu", pick(w.random, []string{"500", "1500", "3000"}), "kubernetes.io/batch-memory", "1Gi"))
		pod.Labels[extension.LabelPodQoS] = string(extension.QoSBE)
		return pod
	},
	func(w *world, name string) *corev1.Pod {
		return newPod(name, 7500, amounts("kubernetes.io/mid-cpu", pick(w.random, []string{"500", "1500"}), "kubernetes.io/mid-memory", "1Gi"))
	},
	func(w *world, name string) *corev1.Pod { // with exclusive CPUs
		pod := newPod(name, 9500, amounts("cpu", cpuOf(w), "memory", "1Gi"))
		pod.Labels[extension.LabelPodQoS] = string(extension.QoSLSR)
		pod.Annotations[extension.AnnotationResourceSpec] = pick(w.random, []string{
			`{}`, `{"preferredCPUBindPolicy":"FullPCPUs"}`, `{"requiredCPUBindPolicy":"FullPCPUs"}`, `{"requiredCPUBindPolicy":"SpreadByPCPUs"}`,
		})
		return pod
	},
	func(w *world, name string) *corev1.Pod {
		pod := newPod(name, 9500, amounts("cpu", cpuOf(w), "memory", "4Gi"))
		pod.Annotations[extension.AnnotationNUMATopologySpec] = pick(w.random, []string{
			`{"numaTopologyPolicy":"SingleNUMANode"}`, `{"numaTopologyPolicy":"Restricted"}`, `{"numaTopologyPolicy":"BestEffort"}`,
		})
		return pod
	},
	func(w *world, name string) *corev1.Pod {
		requests := pick(w.random, []corev1.ResourceList{
			amounts("nvidia.com/gpu", "1"), amounts("nvidia.com/gpu", "2"), amounts("koordinator.sh/gpu", "50"),
			amounts("koordinator.sh/gpu-core", "30", "koordinator.sh/gpu-memory-ratio", "40"), amounts("koordinator.sh/gpu-memory-ratio", "25"),
		}).DeepCopy()
		requests[corev1.ResourceCPU] = amounts("x", "500m")["x"]
		return newPod(name, 9500, requests)
	},
	func(w *world, name string) *corev1.Pod {
		pod := newPod(name, 9500, amounts("cpu", cpuOf(w), "memory", "1Gi"))
		pod.Labels[extension.LabelQuotaName] = pick(w.random, []string{"left", "right"})
		return pod
	},
	func(w *world, name string) *corev1.Pod { // one that may use what is reserved
		pod := newPod(name, 9500, amounts("cpu", cpuOf(w), "memory", "1Gi"))
		pod.Labels["owner"] = fmt.Sprint(w.random.IntN(3))
		if w.random.IntN(4) == 0 {
			pod.Labels[extension.LabelPodQoS] = string(extension.QoSLSR)
		}
		return pod
	},
}

func (w *world) createPod() {
	pod := pick(w.random, demands)(w, w.name("pod"))
	w.note("pod %s: %v %v %v", pod.Name, pod.Spec.Containers[0].Resources.Requests, pod.Labels, pod.Annotations)
	w.write(podKind, namespace+"/"+pod.Name, pod)
}

// createGang makes a gang, by a PodGroup or by annotations, and its pods.
func (w *world) createGang() {
	gang := w.name("gang")
	least, group := 2+w.random.IntN(3), w.random.IntN(2) == 0
	w.note("gang %s of %d, PodGroup: %v", gang, least, group)
	if group {
		w.write(podGroupKind, namespace+"/"+gang, &schedulingsigsv1alpha1.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gang},
			Spec:       schedulingsigsv1alpha1.PodGroupSpec{MinMember: int32(least), ScheduleTimeoutSeconds: new(int32(10 + w.random.IntN(60)))},
		})
	}
	demand := pick(w.random, demands)
	for range least + w.random.IntN(2) {
		pod := demand(w, w.name("pod"))
		if group {
			pod.Labels[extension.LabelPodGroup] = gang
		} else {
			pod.Annotations[extension.AnnotationGangName] = gang
			pod.Annotations[extension.AnnotationGangMinAvailable] = fmt.Sprint(least)
		}
		w.write(podKind, namespace+"/"+pod.Name, pod)
	}
}

func (w *world) deletePod() {
	if found := w.some(podKind); found != nil {
		w.note("pod %s is deleted", found.key)
		w.removePod(found)
	}
}

func (w *world) removePod(found *object) {
	w.disturbGangOf(found)
	w.remove(podKind, found.key)
}

// endPod lets a bound pod run or end. One that ended never runs again.
func (w *world) endPod() {
	found := w.some(podKind)
	if found == nil {
		return
	}
	if pod := into[corev1.Pod](found); pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	edit(w, podKind, found.key, func(pod *corev1.Pod) {
		pod.Status.Phase = pick(w.random, []corev1.PodPhase{corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed})
		w.note("pod %s is %s", found.key, pod.Status.Phase)
	})
}

// garbage is what annotations may hold that must not be trusted.
var garbage = []string{
	"", "{", "null", `[]`, `{"cpuset":"0-999999999"}`, `{"cpuset":"../../etc"}`, `{"cpuset":"2-7"}`,
	`{"gpu":[{"minor":-1,"resources":{"koordinator.sh/gpu-core":"-5"}}]}`,
	`{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}},{"minor":1}]}`,
	`{"numaNodeResources":[{"node":1,"resources":{"cpu":"900","memory":"1Ei"}}]}`, `{"name":"reservation-1","uid":"uid-0010"}`,
	"\u202e\x00", strings.Repeat("x", 300),
}

// Users write wishes at any time. Decisions they write too, and must not be believed; but one that comes while a pod is being
// bound is nothing that a scheduler could know of, and is for admission to refuse.
var (
	wishes = []string{
		extension.AnnotationResourceSpec, extension.AnnotationNUMATopologySpec, extension.AnnotationReservationAffinity,
		extension.AnnotationDeviceAllocateHint, extension.AnnotationCustomUsageThresholds,
	}
	decisions = []string{
		extension.AnnotationResourceStatus, extension.AnnotationDeviceAllocated, extension.AnnotationReservationAllocated, extension.AnnotationGPUMinors,
	}
)

// spoil writes garbage where users write.
func (w *world) spoil() {
	found := w.some(podKind)
	if found == nil {
		return
	}
	pretends := w.random.IntN(3) == 0
	if pretends && (into[corev1.Pod](found).Spec.NodeName != "" || w.busyWith(found)) {
		return
	}
	key, text := pick(w.random, wishes), pick(w.random, garbage)
	if pretends {
		key = pick(w.random, decisions)
	}
	w.note("pod %s says %s: %.40q", found.key, key, text)
	edit(w, podKind, found.key, func(pod *corev1.Pod) {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[key] = text
	})
	if into[corev1.Pod](found).Spec.NodeName == "" {
		w.edited[found.key] = true
	}
	if pretends {
		w.flush()
	}
}

// busyWith reports whether the leader has a place for a pod, and has not bound it yet.
func (w *world) busyWith(found *object) bool {
	assumed, err := w.live.Scheduler.Cache.IsAssumedPod(into[corev1.Pod](found))
	return err != nil || assumed
}

// considered forgets the edits of pods that the leader knows of, and has not decided about since.
func (w *world) considered() {
	for key := range w.edited {
		if found := w.store.get(podKind, key); found == nil || into[corev1.Pod](found).Spec.NodeName == "" && !w.busyWith(found) {
			delete(w.edited, key)
		}
	}
}

// disturb remembers that a binding did not come about at first: its gang may be bound in part meanwhile.
func (w *world) disturb(c *call) {
	if c.target.kind == podKind {
		if found := w.store.get(podKind, c.target.key()); found != nil {
			w.disturbGangOf(found)
		}
	}
}

func (w *world) disturbGangOf(found *object) {
	if gang := extension.GangName(into[corev1.Pod](found)); gang != "" {
		w.disturbed[namespace+"/"+gang] = true
	}
}
