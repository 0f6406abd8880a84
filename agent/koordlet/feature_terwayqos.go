package koordlet

import (
	"fmt"
	"path"
	"strings"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/qos/terway"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// terwayReader is the image of the daemon that reads Terway's files.
const terwayReader = "terway-qos"

// terwayFeature has Terway divide the network.
func terwayFeature() FeatureSpec {
	return FeatureSpec{
		Spec: nodefeature.TerwayQoS,
		Reconciler: func(b *featureBuild) (qos.Reconciler, error) {
			return orEmpty(terway.New(terway.Options{
				Directory: terway.Directory, CgroupRoot: b.options.Cgroup, Originals: b.store("terway"), Audit: b.audit, Clock: b.options.Clock,
			}))
		},
		Status: (*explainer).terwayStatus,
	}
}

// terwayStatus is of the files that a daemon of Terway reads.
func (e *explainer) terwayStatus(on bool) diagnostics.FeatureStatus {
	lacks := ""
	if !e.terwayRuns() {
		lacks = fmt.Sprintf("no container with image %s runs on the node to read %s", terwayReader, terway.Directory)
	}
	out, told := e.idleStatus(lacks), on && reconcilerOf[*terway.Reconciler](e.enforcement.reconcilers).InSync()
	out.Active, out.Effective = yes(told), yes(told && lacks == "")
	if told && lacks == "" {
		out.State = "the files are up to date; koordlet cannot see whether Terway applies them"
	}
	return out
}

// terwayRuns reports whether a daemon of Terway runs on the node.
func (e *explainer) terwayRuns() bool {
	for _, pod := range e.cluster.Pods() {
		for i := range pod.Object.Spec.Containers {
			image, _, _ := strings.Cut(path.Base(pod.Object.Spec.Containers[i].Image), ":")
			if image, _, _ = strings.Cut(image, "@"); image == terwayReader && pod.Running() {
				return true
			}
		}
	}
	return false
}
