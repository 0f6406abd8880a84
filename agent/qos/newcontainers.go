package qos

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/state"
)

// ForNew is a Feature that can also declare values for pods and containers that are about to start.
type ForNew interface {
	Feature
	// ForNewContainers returns a Feature that remembers nothing, which several goroutines may use at the same time. It is called by the
	// goroutine that uses the feature, and holds until the feature is used again.
	ForNewContainers() Feature
}

// ForNewContainers returns the features that can declare values for pods and containers that are about to start. Several goroutines may use them.
func ForNewContainers(features []Feature) []Feature {
	var out []Feature
	for _, feature := range features {
		if f, can := feature.(ForNew); can {
			out = append(out, f.ForNewContainers())
		}
	}
	return out
}

// ForNewContainers implements ForNew: it remembers nothing.
func (f CPUSetAllocator) ForNewContainers() Feature { return f }

// ForNewContainers implements ForNew: it remembers nothing.
func (f GroupIdentity) ForNewContainers() Feature { return f }

// ForNewContainers implements ForNew: it remembers nothing.
func (f BatchResource) ForNewContainers() Feature { return f }

// ForNewContainers implements ForNew: it remembers nothing.
func (f CPUNormalization) ForNewContainers() Feature { return f }

// ForNewContainers implements ForNew: nothing is reclaimed of what starts.
func (MemoryQoS) ForNewContainers() Feature { return MemoryQoS{} }

// DesiredForNewPod returns what features want of the cgroup of a pod that is about to start, and of those of containers that are about to be
// made in it, by the names of the features. It asks them what they want for a snapshot in which the pod runs, alone.
func DesiredForNewPod(in NodeSnapshot, features []Feature, pod *state.Pod, containers ...Container) map[string][]executor.DesiredValue {
	running := *pod
	running.Object = pod.Object.DeepCopy()
	running.Object.Status.Phase = corev1.PodRunning
	in.Pods, in.Containers, in.Used = []*state.Pod{&running}, &Containers{expected: containers}, unmeasured
	at := in.Layout.Pod(pod.Class(), pod.UID)
	out := map[string][]executor.DesiredValue{}
	for _, feature := range features {
		for _, desired := range feature.DesiredValues(in) {
			if desired.Cgroup == at || strings.HasPrefix(desired.Cgroup, at+"/") {
				out[feature.Name()] = append(out[feature.Name()], desired)
			}
		}
	}
	return out
}

func unmeasured() (metrics.Usage, bool) { return metrics.Usage{}, false }

// newBestEffort is Suppression between two rounds.
type newBestEffort struct {
	cpus, why string
}

// ForNewContainers implements ForNew: best-effort containers begin on the CPUs that such pods are held to.
func (s *Suppression) ForNewContainers() Feature {
	if !s.decision.Enabled || s.cpus.IsEmpty() {
		return newBestEffort{}
	}
	return newBestEffort{cpus: s.cpus.String(), why: s.reason()}
}

// Name implements Feature.
func (newBestEffort) Name() string { return (*Suppression)(nil).Name() }

// DesiredValues implements Feature.
func (h newBestEffort) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	if h.cpus == "" {
		return nil
	}
	var values []executor.DesiredValue
	for _, pod := range in.Pods {
		if pod.Class() != corev1.PodQOSBestEffort {
			continue
		}
		for _, container := range in.Containers.Of(pod, in.Now) {
			values = append(values, executor.DesiredValue{Setting: cgroup.CPUSet, Cgroup: container.Cgroup, Value: h.cpus, Why: h.why})
		}
	}
	return values
}

// newBurst is CPUBurst for containers of which nothing was measured.
type newBurst struct{}

// ForNewContainers implements ForNew: time may be saved up from the beginning, and no quota is more than its limit's.
func (*CPUBurst) ForNewContainers() Feature { return newBurst{} }

// Name implements Feature.
func (newBurst) Name() string { return (*CPUBurst)(nil).Name() }

// DesiredValues implements Feature.
func (newBurst) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	in.Measured, in.PodUsed = Measured{}, nil
	return (&CPUBurst{Fill: func() float64 { return 0 }}).DesiredValues(in)
}

// Owners lists the names of features.
func Owners(features []Feature) []string {
	var names []string
	for _, feature := range features {
		names = append(names, feature.Name())
	}
	return names
}
