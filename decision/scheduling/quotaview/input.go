package quotaview

import (
	corev1 "k8s.io/api/core/v1"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Input is what the explanation of a quota needs.
type Input struct {
	// Quota that is explained.
	Quota *Quota
	// Objects are all ElasticQuotas.
	Objects []schedulingsigsv1alpha1.ElasticQuota
	// Pods and Nodes of the cluster. Pods that have ended do not count.
	Pods  []corev1.Pod
	Nodes []corev1.Node
	// Args of plugin ElasticQuota; nil are the defaults.
	Args *quota.Args
	// Unseen is true where quotas, pods or nodes are missing: then nothing is computed.
	Unseen bool
	// Limit bounds the pods that are named, those that use the quota and those that do not fit apart.
	Limit int
}
