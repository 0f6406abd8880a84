package koordlet

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/oomkill"
	"koordinator.sh/koord/agent/oomreport"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// oomKillsMetric counts processes that the kernel killed.
const oomKillsMetric = "pod_oom_kills_total"

// oomKillFeature reports processes of pods that the kernel killed because memory ran out.
func oomKillFeature() FeatureSpec {
	return FeatureSpec{
		Spec: nodefeature.OOMKillReport,
		Observer: func(b *featureBuild) observer {
			return oomreport.New(oomreport.Options{Tree: watchedTree(b), Layout: b.layout, Events: b.events, Clock: b.options.Clock})
		},
		Status: (*explainer).oomKillStatus,
		Metrics: []diagnostics.Metric{{
			Name: oomKillsMetric, Counter: true, Labels: []string{"node", "pod_namespace", "pod_name", "container_name"},
			Help: "Processes of a container that the kernel killed because memory ran out; container is empty for those in no known container.",
		}},
		Collect: (*explainer).collectOOMKills,
	}
}

// watchedTree is the tree of cgroups. Version 1 notifies of kills what is registered by writing a file, and an agent that writes nothing
// reads counters only: it gets a tree that is at no directory.
func watchedTree(b *featureBuild) files.FS {
	if b.options.ReadOnly && b.layout.Version == cgroup.V1 {
		return struct{ files.FS }{b.trees.cgroup}
	}
	return b.trees.cgroup
}

func (e *explainer) oomKillStatus(on bool) diagnostics.FeatureStatus {
	missing := ""
	if err := oomkill.Supported(e.enforcement.tree, e.enforcement.layout); err != nil {
		missing = err.Error()
	}
	out := e.idleStatus(missing)
	reporter := observerOf[*oomreport.Reporter](e.enforcement.observers)
	if !on || missing != "" || reporter == nil {
		return out
	}
	state := reporter.State()
	out.Active, out.Effective = yes(state.Running), yes(state.Running)
	switch state.Killed {
	case 0:
		out.State = "no process of a pod was OOM-killed since koordlet started"
	default:
		out.State = fmt.Sprintf("processes of pods OOM-killed since koordlet started: %d, the latest at %s", state.Killed, state.Latest.UTC().Format(time.RFC3339))
	}
	return out
}

// collectOOMKills emits the count of each container that runs, also while it is zero, so that the first kill is an increase; and those of
// which processes were killed, until the pod is deleted.
func (e *explainer) collectOOMKills(emit diagnostics.Emit) {
	reporter := observerOf[*oomreport.Reporter](e.enforcement.observers)
	if reporter == nil {
		return
	}
	for uid, pod := range e.cluster.Objects() {
		counts := reporter.Counts(uid)
		if pod.Status.Phase == corev1.PodRunning {
			for i := range pod.Spec.Containers {
				if name := pod.Spec.Containers[i].Name; counts[name] == 0 {
					counts[name] = 0
				}
			}
		}
		for container, killed := range counts {
			emit(oomKillsMetric, float64(killed), pod.Namespace, pod.Name, container)
		}
	}
}
