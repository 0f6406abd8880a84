package overview

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
)

// WorkloadsInput is what the rows of workloads are made of. Nothing in it is modified.
type WorkloadsInput struct {
	// Pods that have not ended.
	Pods []corev1.Pod
	// Metrics of at least the nodes the pods run on.
	Metrics []slov1alpha1.NodeMetric
	// Recommendations of the namespaces of the pods.
	Recommendations []analysisv1alpha1.Recommendation
	// Groups by which pods are put into rows; empty for workloads.
	Groups []Group
	// Unknown are the inputs that could not be read.
	Unknown unknown.Inputs
	Now     time.Time
}

// Workloads is one row for each workload, or for each group of pods, ordered by namespace and name.
func Workloads(in WorkloadsInput) *diagnosticsv1alpha1.WorkloadOverviewList {
	uses := make([]NodeUses, len(in.Metrics))
	for i := range in.Metrics {
		uses[i] = UsesOf(&in.Metrics[i], in.Now)
	}
	measured, rows := usesByNode(uses), map[string]*diagnosticsv1alpha1.WorkloadOverview{}
	owners, recommended := ownersOf(in.Pods), recommendedFor(in.Recommendations)
	for i := range in.Pods {
		pod := &in.Pods[i]
		owner := owners.workload(pod)
		row := rowOf(rows, in.Groups, pod, owner)
		used, observedAt := measured[pod.Spec.NodeName].of(pod.Namespace, pod.Name)
		count(row, pod, used)
		if used != nil && (row.ObservedAt == nil || observedAt.Before(row.ObservedAt)) {
			row.ObservedAt = observedAt
		}
		if target, there := recommended[recommendedName{pod.Namespace, owner.Kind, owner.Name}]; there {
			row.CPU.Recommended = plus(row.CPU.Recommended, target.MilliCPU)
			row.Memory.Recommended = plus(row.Memory.Recommended, target.Memory)
		}
	}
	list := &diagnosticsv1alpha1.WorkloadOverviewList{
		TypeMeta: typeMeta("WorkloadOverviewList"), Items: make([]diagnosticsv1alpha1.WorkloadOverview, 0, len(rows)), Unknown: in.Unknown.List(),
	}
	for _, row := range rows {
		list.Items = append(list.Items, *row)
	}
	slices.SortFunc(list.Items, func(a, b diagnosticsv1alpha1.WorkloadOverview) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return list
}

// count adds a pod to its row, with what it uses where that is known.
func count(row *diagnosticsv1alpha1.WorkloadOverview, pod *corev1.Pod, used *podrequest.Amount) {
	row.Pods++
	if pod.Spec.NodeName == "" {
		row.Waiting++
	}
	requests := podrequest.Of(pod).Requests
	request(&row.CPU, requests.Plain.MilliCPU, requests.Mid.MilliCPU, requests.Batch.MilliCPU)
	request(&row.Memory, requests.Plain.Memory, requests.Mid.Memory, requests.Batch.Memory)
	if used == nil {
		return
	}
	row.Measured++
	use(&row.CPU, requests.Plain.MilliCPU+requests.Mid.MilliCPU+requests.Batch.MilliCPU, used.MilliCPU)
	use(&row.Memory, requests.Plain.Memory+requests.Mid.Memory+requests.Batch.Memory, used.Memory)
}

func request(r *diagnosticsv1alpha1.WorkloadResource, plain, mid, batch int64) {
	r.Requested += plain + mid + batch
	r.Mid += mid
	r.Batch += batch
}

// use adds what one pod uses, and what it requests and does not use: pods that use more than they request do not make up for others.
func use(r *diagnosticsv1alpha1.WorkloadResource, requested, used int64) {
	r.Used = plus(r.Used, used)
	r.Idle = plus(r.Idle, max(requested-used, 0))
}

func plus(to *int64, more int64) *int64 {
	if to != nil {
		more += *to
	}
	return &more
}

type recommendedName struct{ namespace, kind, name string }

// recommendedFor is what a pod of each workload should request, of those that have a Recommendation.
func recommendedFor(recommendations []analysisv1alpha1.Recommendation) map[recommendedName]podrequest.Amount {
	out := map[recommendedName]podrequest.Amount{}
	for i := range recommendations {
		r := &recommendations[i]
		if r.Spec.Target.Workload == nil || r.Status.PodStatus == nil {
			continue
		}
		var all podrequest.Amount
		for _, container := range r.Status.PodStatus.ContainerStatuses {
			all = all.Add(podrequest.Amount{MilliCPU: container.Resources.Cpu().MilliValue(), Memory: container.Resources.Memory().Value()})
		}
		out[recommendedName{r.Namespace, r.Spec.Target.Workload.Kind, r.Spec.Target.Workload.Name}] = all
	}
	return out
}

// owners finds the workloads of pods.
type owners struct {
	pods map[podName]*corev1.Pod
}

func ownersOf(pods []corev1.Pod) owners {
	byName := make(map[podName]*corev1.Pod, len(pods))
	for i := range pods {
		byName[podName{pods[i].Namespace, pods[i].Name}] = &pods[i]
	}
	return owners{pods: byName}
}

// maxOwners bounds how far the chain of owners is followed.
const maxOwners = 5

// workload is what a pod belongs to: its controller, the Deployment above a ReplicaSet, or, where a pod owns others as Spark's drivers do,
// what that pod belongs to; a pod by itself where it has no controller. A Deployment is known by the names that it gives its ReplicaSets,
// which end with the hash that is in a label of the pods, so that ReplicaSets need not be read.
func (o owners) workload(pod *corev1.Pod) metav1.OwnerReference {
	for range maxOwners {
		owner := metav1.GetControllerOf(pod)
		if owner == nil {
			break
		}
		if hash := pod.Labels["pod-template-hash"]; owner.Kind == "ReplicaSet" && hash != "" {
			if name, cut := strings.CutSuffix(owner.Name, "-"+hash); cut {
				return metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
			}
		}
		above := o.pods[podName{pod.Namespace, owner.Name}]
		if owner.Kind != "Pod" || above == nil || above == pod {
			return *owner
		}
		pod = above
	}
	return metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name}
}
