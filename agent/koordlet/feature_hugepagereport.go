package koordlet

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// hugePages is in /sys where the kernel has any size of them.
const hugePages = "kernel/mm/hugepages"

// hugePageFeature adds huge pages to the zones of the NodeResourceTopology.
func hugePageFeature() FeatureSpec {
	return FeatureSpec{Spec: nodefeature.HugePageReport, Status: (*explainer).hugePageStatus}
}

// hugePageStatus is of huge pages in the zones of the node's NodeResourceTopology.
func (e *explainer) hugePageStatus(on bool) diagnostics.FeatureStatus {
	missing := ""
	if !e.enforcement.sys.Exists(hugePages) {
		missing = "the kernel has no huge pages"
	}
	out := e.idleStatus(missing)
	topology := e.cluster.Topology()
	if !on || out.State != "" || topology == nil {
		return out
	}
	zones := 0
	for i := range topology.Zones {
		for _, resource := range topology.Zones[i].Resources {
			if strings.HasPrefix(resource.Name, corev1.ResourceHugePagesPrefix) && !resource.Capacity.IsZero() {
				zones++
				break
			}
		}
	}
	out.Active, out.Effective = yes(zones > 0), yes(zones > 0)
	if out.State = fmt.Sprintf("%d of %d zones report huge pages", zones, len(topology.Zones)); zones == 0 {
		out.State = "no huge pages are allocated on the node"
	}
	return out
}
