package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/configmerge"
)

// collectNodes looks for what the configuration does to the nodes: strategies that compete for one, and offers beyond what
// it has. Nodes that share a problem are one finding.
func (c *collector) collectNodes(ctx context.Context) error {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"}) // from the API server's memory
	if c.unseen(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	slices.SortFunc(nodes.Items, func(a, b corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	c.objects.Nodes = nodes.Items
	var shared sharedFindings
	for i := range nodes.Items {
		node := &nodes.Items[i]
		problems := append(c.config.Colocation(node).Problems, c.config.NodeSLO(node).Problems...)
		for _, problem := range problems {
			if problem.Node != "" {
				shared.add(problemKind(problem), problem.Finding(c.status.Namespace, configName))
			}
		}
		for _, offer := range offers {
			if over, found := offer.over(node); found {
				shared.add(string(offer.resource), over)
			}
		}
	}
	c.status.Findings = append(c.status.Findings, shared.all()...)
	return nil
}

// problemKind is the same for problems that differ in the node alone.
func problemKind(problem configmerge.Problem) string {
	return problem.Key + strings.ReplaceAll(problem.String(), strconv.Quote(problem.Node), "")
}

// sharedFindings keeps the first finding of each kind and counts the other nodes that have it.
type sharedFindings struct {
	kinds  []string
	first  map[string]diagnosticsv1alpha1.Finding
	others map[string]int
}

func (s *sharedFindings) add(kind string, found diagnosticsv1alpha1.Finding) {
	if s.first == nil {
		s.first, s.others = map[string]diagnosticsv1alpha1.Finding{}, map[string]int{}
	}
	if _, known := s.first[kind]; known {
		s.others[kind]++
		return
	}
	s.kinds, s.first[kind] = append(s.kinds, kind), found
}

func (s *sharedFindings) all() []diagnosticsv1alpha1.Finding {
	var out []diagnosticsv1alpha1.Finding
	for _, kind := range s.kinds {
		found := s.first[kind]
		switch others := s.others[kind]; {
		case others == 1:
			found.Message += " (so it is on 1 more node)"
		case others > 1:
			found.Message += fmt.Sprintf(" (so it is on %d more nodes)", others)
		}
		out = append(out, found)
	}
	return out
}

// offer is a resource of a tier and the one of the node that it is part of.
type offer struct{ resource, of corev1.ResourceName }

var offers = []offer{
	{extension.BatchCPU, corev1.ResourceCPU}, {extension.BatchMemory, corev1.ResourceMemory},
	{extension.MidCPU, corev1.ResourceCPU}, {extension.MidMemory, corev1.ResourceMemory},
}

// over is the finding for a node that offers more than its capacity. CPU of a tier counts in thousandths of a core.
func (o offer) over(node *corev1.Node) (diagnosticsv1alpha1.Finding, bool) {
	offered, capacity := node.Status.Allocatable[o.resource], node.Status.Capacity[o.of]
	if o.of == corev1.ResourceCPU {
		offered = *resource.NewMilliQuantity(offered.Value(), resource.DecimalSI)
	}
	if capacity.IsZero() || offered.Cmp(capacity) <= 0 {
		return diagnosticsv1alpha1.Finding{}, false
	}
	return diagnosticsv1alpha1.Finding{
		Code: string(finding.OfferBeyondNode), Severity: diagnosticsv1alpha1.SeverityWarning,
		Message: fmt.Sprintf("node %q offers %s of %s, more than its capacity of %s", node.Name, &offered, o.resource, &capacity),
		Hint:    "koordctl explain node " + node.Name,
		Object:  &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: node.Name, Field: "status.allocatable[" + string(o.resource) + "]"},
	}, true
}
