package podvalidation

import (
	corev1 "k8s.io/api/core/v1"
)

// Quota is what is known of the quota that a pod asks for.
type Quota struct {
	// Name that the pod's label gives, or else that of the quota of its namespace.
	Name string
	// Exists is false for a name that no quota has.
	Exists bool
	// Parent is true for a quota that holds other quotas.
	Parent bool
	// Namespace is where the quota is.
	Namespace string
	// Serves is true for a quota that any pod of the pod's namespace may name, regardless of who creates it.
	Serves bool
	// User says whose permission lets the pod use a quota that does not serve its namespace; empty when there is no such permission.
	User User
}

// User says whose permission lets a pod use a quota that does not serve its namespace.
type User string

// Users of quotas.
const (
	// CreatorUses: the creator of the pod may use the quota. It does not count for pods that a controller creates from a template.
	CreatorUses User = "creator"
	// ServiceAccountUses: the ServiceAccount that the pod runs as may use the quota.
	ServiceAccountUses User = "serviceAccount"
)

// Options apply to all pods.
type Options struct {
	// SkipPriority allows every combination of QoS class and priority.
	SkipPriority bool
	// AllowParentQuota lets pods belong to quotas that hold other quotas.
	AllowParentQuota bool
	// ProtectQuotas refuses pods that name a quota which neither serves their namespace nor may be used by who creates them or as whom
	// they run. Upstream does not.
	ProtectQuotas bool
	// RequireQuota refuses pods that name a quota that does not exist; they are only warned about otherwise, because the
	// scheduler counts them against the default quota.
	RequireQuota bool
}

// Input is everything that decides about one pod.
type Input struct {
	// Pod as it is to be.
	Pod *corev1.Pod
	// Old is the pod as it was; nil when it is created.
	Old *corev1.Pod
	// Resize is true for an update of the resources of the pod's containers, through subresource resize.
	Resize bool
	// Quota that the pod asks for; nil when it asks for none or nothing is known about quotas.
	Quota *Quota
	// Options apply to all pods.
	Options Options
}
