package configplan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Input is everything a plan depends on. Nothing in it is modified.
type Input struct {
	// Old is the configuration in force, New the one that would be.
	Old, New configmerge.Config
	// Nodes of the cluster, and what is on them.
	Nodes []corev1.Node
	// Pods on the nodes, and those that wait for one where there are quotas, which share by what is asked for.
	Pods    []corev1.Pod
	Metrics []slov1alpha1.NodeMetric
	// SLOs are the NodeSLOs as they are; nil when unknown, and then they are taken to be as Old renders them.
	SLOs []slov1alpha1.NodeSLO
	// Quotas of the cluster.
	Quotas []schedulingsigsv1alpha1.ElasticQuota
	// QuotaArgs is how the scheduler computes shares, with defaults set; nil when it is not known to differ from them.
	QuotaArgs *quota.Args
	// CPUs of the nodes as the node agent reported them, by node; needed where cpu normalization changes.
	CPUs map[string]*extension.CPUBasicInfo
	// Features of the node agent by name; nil when unknown.
	Features map[string]bool
	// Unknown are the inputs that could not be read. What they decide is left out of the plan, and not counted as none.
	Unknown unknown.Inputs
	// Now is the time at which ages are measured.
	Now time.Time
}
