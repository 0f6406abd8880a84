package refusals

import (
	"fmt"
	"strings"
	"testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// refusing are nodes with the same refusals.
func refusing(count int, list ...Refusal) [][]Refusal {
	nodes := make([][]Refusal, count)
	for i := range nodes {
		nodes[i] = list
	}
	return nodes
}

func TestSummariesReadLikeThoseOfKubeScheduler(t *testing.T) {
	says := func() (string, []diagnosticsv1alpha1.Term) { return "", nil }
	selector := Refusal{Plugin: "NodeAffinity", Code: finding.NodeAffinityMismatch, Reason: "node(s) didn't match Pod's node affinity/selector", Key: "pool=gpu",
		Phrase: "didn't match Pod's node affinity/selector (pool=gpu)", Describe: says}
	zone := selector
	zone.Key, zone.Phrase = "zone=a", "didn't match Pod's node affinity/selector (zone=a)"
	hot := Refusal{Plugin: "LoadAwareScheduling", Code: finding.LoadThresholdExceeded, Reason: "node(s) cpu usage exceed threshold", Phrase: "cpu usage above 65%", Describe: says}
	full := func(phrase string, distance float64) Refusal {
		return Refusal{Plugin: "NodeResourcesFit", Code: finding.InsufficientResources, Reason: "Insufficient cpu", Phrase: phrase, Distance: distance, Describe: says}
	}
	foreign := Refusal{Plugin: "Foreign", Code: finding.OtherPlugin, Reason: "node(s) are haunted.", Phrase: "node(s) are haunted.", Describe: says}
	quota := Refusal{Plugin: "ElasticQuota", Code: finding.QuotaMaxExceeded, Reason: "Insufficient quotas", Phrase: "quota team has insufficient cpu", Everywhere: true, Describe: says}
	long := Refusal{Plugin: "Foreign", Reason: "long", Phrase: strings.Repeat("x", 200), Describe: says}
	var many []Refusal
	for i := range 6 {
		many = append(many, Refusal{Plugin: fmt.Sprint("P", i), Reason: "r", Phrase: fmt.Sprint("had problem ", i), Describe: says})
	}
	tests := map[string]struct {
		feasible int
		nodes    [][]Refusal
		want     string
	}{
		"a pod that selects one node, which is hot": {
			nodes: append(refusing(29, selector), refusing(1, hot)...),
			want:  "0/30 nodes are available: 29 node(s) didn't match Pod's node affinity/selector (pool=gpu), 1 node(s) cpu usage above 65%.",
		},
		"nodes that two selectors exclude": {
			nodes: append(append(refusing(2, selector), refusing(1, zone)...), refusing(1, hot)...),
			want:  "0/4 nodes are available: 3 node(s) didn't match Pod's node affinity/selector, 1 node(s) cpu usage above 65%.",
		},
		"a resource, with the numbers of the node that is closest": {
			nodes: [][]Refusal{{full("Insufficient cpu (requested 4, at most 1 free, on a)", 0.75)}, {full("Insufficient cpu (requested 4, at most 3 free, on b)", 0.25)}},
			want:  "0/2 nodes are available: 2 Insufficient cpu (requested 4, at most 3 free, on b).",
		},
		"another scheduler's plugin keeps its words":   {nodes: refusing(2, foreign), want: "0/2 nodes are available: 2 node(s) are haunted."},
		"what is about the pod has no number of nodes": {nodes: refusing(3, quota), want: "0/3 nodes are available: quota team has insufficient cpu."},
		"some nodes pass":    {feasible: 1, nodes: append(refusing(1), refusing(1, hot)...), want: "1/2 nodes are available: 1 node(s) cpu usage above 65%."},
		"all nodes pass":     {feasible: 2, nodes: refusing(2), want: "2/2 nodes are available."},
		"no nodes":           {want: "0/0 nodes are available: no nodes available to schedule pods."},
		"a long text is cut": {nodes: refusing(1, long), want: "0/1 nodes are available: 1 node(s) " + strings.Repeat("x", 119) + "…."},
		"many reasons": {nodes: refusing(1, many...),
			want: "0/1 nodes are available: 1 node(s) had problem 0, 1 node(s) had problem 1, 1 node(s) had problem 2, 1 node(s) had problem 3, 2 more reasons."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			names := make([]string, len(test.nodes))
			for i := range names {
				names[i] = fmt.Sprint("node-", i)
			}
			if got := Summarise(test.feasible, len(test.nodes), GroupByReason(names, test.nodes)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
