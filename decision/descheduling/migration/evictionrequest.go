package migration

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// EvictionRequests is the resource of KEP-4563, by which one asks for the eviction of a pod and leaves it to the responders of the pod.
// Kubernetes 1.37 serves it where the feature gate EvictionRequestAPI is on. Other versions of the API count as not served: an alpha API
// may change its fields.
var EvictionRequests = schema.GroupVersionResource{Group: "lifecycle.k8s.io", Version: "v1alpha1", Resource: "evictionrequests"}

const (
	// EvictionRequester is the requester of EvictionRequests of jobs.
	EvictionRequester = "koordinator.sh/" + CreatedBy
	// EvictionRequestsNotServed says why no EvictionRequest is used where the cluster does not serve them.
	EvictionRequestsNotServed = "the cluster does not serve evictionrequests.lifecycle.k8s.io/v1alpha1"

	intentEviction  = "Eviction"
	intentWithdrawn = "Withdrawn"
)

// EvictionRequest is the request of a job for the eviction of its pod.
type EvictionRequest struct {
	Name string
	UID  types.UID
	// Owned is true when it is by koord-descheduler and for the pod of the job.
	Owned bool
	// Withdrawn is true when its intent is not the eviction.
	Withdrawn bool
	// Observed is true once a controller of EvictionRequests has seen it.
	Observed bool
	// Failed says why no responder evicts the pod; empty while one may.
	Failed string
}

// open reports whether the request still asks for the eviction.
func (r *EvictionRequest) open() bool { return r != nil && r.Owned && !r.Withdrawn }

// ServesEvictionRequests reports whether EvictionRequests are among the resources of their group and version.
func ServesEvictionRequests(list *metav1.APIResourceList) bool {
	return slices.ContainsFunc(list.APIResources, func(served metav1.APIResource) bool { return served.Name == EvictionRequests.Resource })
}

// EvictionRequestName is the name of the EvictionRequest of a job, in the namespace of its pod.
func EvictionRequestName(job *schedulingv1alpha1.PodMigrationJob) string {
	return "koord-" + string(job.UID)
}

// ReadsEvictionRequest reports whether the next step of a job depends on its EvictionRequest.
func ReadsEvictionRequest(job *schedulingv1alpha1.PodMigrationJob, pod *Pod, args *Args) bool {
	switch {
	case job.Spec.PodRef == nil || job.Status.Phase == schedulingv1alpha1.PodMigrationJobSucceeded:
		return false
	case Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionEvictionRequest) != nil:
		return true
	}
	evicting := Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionEviction) != nil
	return !Finished(job) && evicting && pod != nil && policyOf(pod, args) == RequestEviction
}

// NewEvictionRequest is the EvictionRequest of a job. The job owns it: a job that is deleted withdraws it.
func NewEvictionRequest(job *schedulingv1alpha1.PodMigrationJob) *unstructured.Unstructured {
	ref := job.Spec.PodRef
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": EvictionRequests.GroupVersion().String(),
		"kind":       "EvictionRequest",
		"metadata": map[string]any{
			"namespace": ref.Namespace,
			"name":      EvictionRequestName(job),
			"labels":    map[string]any{LabelCreatedBy: CreatedBy},
			"ownerReferences": []any{map[string]any{
				"apiVersion": schedulingv1alpha1.GroupVersion.String(), "kind": "PodMigrationJob", "name": job.Name, "uid": string(job.UID), "controller": true,
			}},
		},
		"spec": map[string]any{
			"requester": EvictionRequester,
			"intent":    intentEviction,
			"target":    map[string]any{"pod": map[string]any{"name": ref.Name, "uid": string(ref.UID)}},
		},
	}}
}

// EvictionRequestWithdrawal is the merge patch that withdraws an EvictionRequest, on the condition of its UID.
func EvictionRequestWithdrawal(uid types.UID) map[string]any {
	return map[string]any{"metadata": map[string]any{"uid": uid}, "spec": map[string]any{"intent": intentWithdrawn}}
}

// EvictionRequestOf reads the EvictionRequest of a job; nil for nil.
func EvictionRequestOf(request *unstructured.Unstructured, job *schedulingv1alpha1.PodMigrationJob) *EvictionRequest {
	if request == nil {
		return nil
	}
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(request.Object, fields...) // what is no string is not what the job wrote
		return value
	}
	observed, _, _ := unstructured.NestedInt64(request.Object, "status", "observedGeneration") // as above
	return &EvictionRequest{
		Name: request.GetName(), UID: request.GetUID(),
		Owned:     text("spec", "requester") == EvictionRequester && types.UID(text("spec", "target", "pod", "uid")) == PodUID(job),
		Withdrawn: text("spec", "intent") != intentEviction,
		Observed:  observed > 0,
		Failed:    requestFailure(request),
	}
}

// requestFailure is the reason and message of condition Failed; empty when the condition is not true.
func requestFailure(request *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(request.Object, "status", "conditions") // conditions of another form say nothing
	for _, entry := range conditions {
		condition, _ := entry.(map[string]any)
		if condition["type"] != "Failed" || condition["status"] != string(metav1.ConditionTrue) {
			continue
		}
		reason, _ := condition["reason"].(string)
		message, _ := condition["message"].(string)
		if message == "" {
			return reason
		}
		return fmt.Sprintf("%s: %s", reason, message)
	}
	return ""
}
