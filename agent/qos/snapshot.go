package qos

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/state"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// NodeSnapshot is all that a feature may know. Nothing in it may be changed.
type NodeSnapshot struct {
	// Now is the time of the latest reading of the machine, and Period the time between two.
	Now    time.Time
	Period time.Duration
	// SLO is what the cluster wants of the node; never nil.
	SLO  *slov1alpha1.NodeSLOSpec
	Node *corev1.Node
	Pods []*state.Pod
	// Capacity of the machine, and Topology of its CPUs; nil when it is not known.
	Capacity podrequest.Amount
	Topology *cpuset.Topology
	// Used by the node, and by a pod, at the latest reading; false for what was not measured.
	Used    func() (metrics.Usage, bool)
	PodUsed func(types.UID) (metrics.Usage, bool)
	// Measured beside that.
	Measured
	// Relief is what best effort gives up because services are disturbed; the zero value is nothing.
	Relief suppression.Relief
	// Reported is the NodeResourceTopology; nil while there is none.
	Reported *topologyv1alpha1.NodeResourceTopology
	// Tree of cgroups, to look at, and where they are in it.
	Tree       files.FS
	Layout     cgroup.Layout
	Containers *Containers
	// Proc and Sys are the trees at /proc and /sys, to look at.
	Proc, Sys files.FS
	// Audit has what a feature does beside setting values.
	Audit *audit.Log
	// QuotaNormalized says that the feature CPUNormalization is on: quotas of services are those of the node's own CPUs.
	QuotaNormalized bool
}

// Feature is one of the agent's. One goroutine at a time may use it.
type Feature interface {
	// Name is that of the feature's gate, and the owner of its values.
	Name() string
	// DesiredValues are all the values of cgroups that the feature declares for a snapshot of the node.
	DesiredValues(NodeSnapshot) []executor.DesiredValue
}

// Worker is a feature that works beside declaring values, because that takes longer than a reading may.
type Worker interface {
	// Run works until the context ends. It may be called at the same time as DesiredValues.
	Run(ctx context.Context, clock clock.PassiveClock)
}

// normalization is what one CPU of the node is worth, in percent.
func (s *NodeSnapshot) normalization() int64 {
	if s.Node == nil {
		return 100
	}
	return capacity.Of(s.Node).NormalizationPercent
}

// below lists a cgroup's children by their paths; those that go meanwhile are left out.
func (s *NodeSnapshot) below(at string) []string {
	names, err := s.Tree.Directories(s.Layout.Directory(cgroup.CPUStat, at))
	if err != nil {
		return nil
	}
	for i, name := range names {
		names[i] = at + "/" + name
	}
	return names
}

// read returns the value of a setting, false when there is none to be had.
func (s *NodeSnapshot) read(setting cgroup.Setting, at string) (string, bool) {
	path, has := s.Layout.Path(setting, at)
	if !has {
		return "", false
	}
	content, err := s.Tree.Read(path, nil)
	if err != nil {
		return "", false
	}
	value, err := setting.Decode(s.Layout.Version, string(content))
	return value, err == nil
}
