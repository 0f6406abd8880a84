package qos

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/state"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/capacity"
	"koordinator.sh/koord/decision/cpuset"
	"koordinator.sh/koord/decision/podrequest"
)

// Situation is all that a feature may know. Nothing in it may be changed.
type Situation struct {
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
	// Reported is the NodeResourceTopology; nil while there is none.
	Reported *topologyv1alpha1.NodeResourceTopology
	// Tree of cgroups, to look at, and where they are in it.
	Tree       files.FS
	Layout     cgroup.Layout
	Containers *Containers
}

// Feature is one of the agent's. One goroutine at a time may use it.
type Feature interface {
	// Name is that of the feature's gate, and the owner of its wishes.
	Name() string
	// Wishes are all that the feature wants of cgroups in a situation.
	Wishes(Situation) []executor.Wish
}

// normalization is what one CPU of the node is worth, in percent.
func (s *Situation) normalization() int64 {
	if s.Node == nil {
		return 100
	}
	return capacity.Of(s.Node).NormalizationPercent
}

// below lists a cgroup's children by their paths; those that go meanwhile are left out.
func (s *Situation) below(at string) []string {
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
func (s *Situation) read(setting cgroup.Setting, at string) (string, bool) {
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
