package kueueview

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// Group is the API group of Kueue.
	Group = "kueue.x-k8s.io"
	// GatePrefix is that of the scheduling gates of pods that Kueue has not admitted, or of which it has not chosen the topology.
	GatePrefix = Group + "/"
	// QueueLabel names the LocalQueue of a pod or a Job.
	QueueLabel = "kueue.x-k8s.io/queue-name"
	// podGroupLabel names the group of a pod, which is the name of their Workload.
	podGroupLabel = "kueue.x-k8s.io/pod-group-name"
)

// Versions are those in which Workloads and LocalQueues are read, the newest first. What is read is the same in both.
func Versions() []string { return []string{"v1beta2", "v1beta1"} }

// Pod and Job are the kinds of objects that are asked about.
const (
	Pod = "pod"
	Job = "Job"
)

// Input is what Kueue and its objects say about a pod or a Job.
type Input struct {
	// Kind of the object: pod or Job.
	Kind string
	// Withheld is true where the pod has a scheduling gate of Kueue, or the Job is suspended.
	Withheld bool
	// Queue is the LocalQueue that the object names; empty for none.
	Queue string
	// Served is true where the cluster has Kueue.
	Served bool
	// Workload of the object; nil where there is none.
	Workload *Workload
	// ClusterQueue of the LocalQueue; empty where it is not known.
	ClusterQueue string
}

// Workload is what is read of a Workload of Kueue.
type Workload struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              WorkloadSpec   `json:"spec"`
	Status            WorkloadStatus `json:"status"`
}

// WorkloadSpec is what is asked of Kueue.
type WorkloadSpec struct {
	// QueueName is the LocalQueue.
	QueueName string `json:"queueName"`
	// Active is false for a Workload that Kueue is not to admit; true where it is not given.
	Active *bool `json:"active"`
}

// WorkloadStatus is what Kueue decided.
type WorkloadStatus struct {
	// Admission is given from when quota is reserved.
	Admission       *Admission         `json:"admission"`
	Conditions      []metav1.Condition `json:"conditions"`
	AdmissionChecks []AdmissionCheck   `json:"admissionChecks"`
}

// Admission is where quota is reserved.
type Admission struct {
	ClusterQueue string `json:"clusterQueue"`
}

// LocalQueue is what is read of a LocalQueue of Kueue.
type LocalQueue struct {
	Spec LocalQueueSpec `json:"spec"`
}

// LocalQueueSpec says where a LocalQueue leads.
type LocalQueueSpec struct {
	ClusterQueue string `json:"clusterQueue"`
}

// AdmissionCheck is a condition of the ClusterQueue that a controller decides.
type AdmissionCheck struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message"`
}

// GatesOf counts the scheduling gates that Kueue removes, and the others.
func GatesOf(pod *corev1.Pod) (own, others int) {
	for _, gate := range pod.Spec.SchedulingGates {
		if strings.HasPrefix(gate.Name, GatePrefix) {
			own++
		} else {
			others++
		}
	}
	return own, others
}

// WorkloadOf is the Workload of an object: one that the object owns, or its owner such as a JobSet, or that of the pod's group. The newest is
// taken, since one that is finished may be there for some time.
func WorkloadOf(workloads []Workload, object *metav1.ObjectMeta) *Workload {
	owners := []types.UID{object.UID}
	for _, owner := range object.OwnerReferences {
		owners = append(owners, owner.UID)
	}
	var found *Workload
	for i := range workloads {
		w := &workloads[i]
		owned := slices.ContainsFunc(w.OwnerReferences, func(o metav1.OwnerReference) bool { return slices.Contains(owners, o.UID) })
		if group := object.Labels[podGroupLabel]; !owned && (group == "" || group != w.Name) {
			continue
		}
		if found == nil || found.CreationTimestamp.Before(&w.CreationTimestamp) {
			found = w
		}
	}
	return found
}
