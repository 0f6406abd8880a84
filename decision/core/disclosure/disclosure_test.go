package disclosure

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

type (
	podStatus  = diagnosticsv1alpha1.PodExplanationStatus
	nodeStatus = diagnosticsv1alpha1.NodeExplanationStatus
	ref        = diagnosticsv1alpha1.SourceRef
)

// granted may do what is listed as "verb resource", "verb resource in NAMESPACE" or "verb resource NAME".
func granted(list ...string) Access {
	return func(r Request) bool {
		right := r.Right()
		return slices.Contains(list, right) || r.Namespace != "" && slices.Contains(list, right+" in "+r.Namespace) ||
			r.Name != "" && slices.Contains(list, right+" "+r.Name)
	}
}

var everyGet = []string{"get nodes", "get pods", "get elasticquotas.scheduling.sigs.k8s.io", "get podgroups.scheduling.sigs.k8s.io", "get reservations.scheduling.koordinator.sh"}

// crowded is the answer about a pod of namespace team that nodes have no room for and that its quota refuses.
func crowded() *podStatus {
	return &podStatus{
		Verdict: diagnosticsv1alpha1.PodUnschedulable, Code: string(finding.InsufficientResources),
		Summary: "0/2 nodes are available: 2 Insufficient cpu (requested 8, at most 2 free, on node-a), quota team has insufficient cpu.",
		Pod:     diagnosticsv1alpha1.PodFacts{Namespace: "team", Name: "web"}, NodesTotal: 2,
		Groups: []diagnosticsv1alpha1.RefusalGroup{
			{
				Plugin: "NodeResourcesFit", Code: string(finding.InsufficientResources), Reason: "Insufficient cpu", Count: 2, Message: "needs 8 cores cpu, 2 cores of 16 cores free",
				Nodes: []diagnosticsv1alpha1.NodeRefusal{{Node: "node-a", Message: "needs 8 cores cpu, 2 cores of 16 cores free"}, {Node: "node-b", Message: "needs 8 cores cpu, 1 core of 16 cores free"}},
			},
			{
				Plugin: "ElasticQuota", Code: string(finding.QuotaMaxExceeded), Reason: "Insufficient quotas, quotaName: team, used: 3", Count: 2,
				Message:  "quota team: cpu used 3 + this pod 8 > max 4; above their min: other holds 2",
				Mentions: []ref{{Kind: "ElasticQuota", Namespace: "team", Name: "team"}, {Kind: "ElasticQuota", Namespace: "shop", Name: "other"}}, ReasonMentions: []ref{{Kind: "ElasticQuota", Namespace: "team", Name: "team"}},
			},
		},
		Preemption: &diagnosticsv1alpha1.Preemption{
			Verdict: diagnosticsv1alpha1.PreemptionEvicts, Plugin: "DefaultPreemption", NodeName: "node-a", Message: "DefaultPreemption would evict 2 pods from node node-a",
			Victims: []diagnosticsv1alpha1.PreemptionVictim{{Namespace: "team", Name: "low"}, {Namespace: "shop", Name: "cart"}},
		},
	}
}

func TestAPodExplanationForItsCaller(t *testing.T) {
	tests := map[string]struct {
		may Access
		// wantSummary and wantMessages are what is said, wantNodes and wantVictims who is named.
		wantSummary            string
		wantMessages           []string
		wantNodes, wantVictims []string
		wantWithheld           []diagnosticsv1alpha1.Withheld
	}{
		"who may get everything": {
			may: granted(everyGet...), wantSummary: crowded().Summary,
			wantMessages: []string{"needs 8 cores cpu, 2 cores of 16 cores free", "quota team: cpu used 3 + this pod 8 > max 4; above their min: other holds 2"},
			wantNodes:    []string{"node-a", "node-b"}, wantVictims: []string{"low", "cart"},
		},
		"a tenant, with the numbers of its own quota": {
			may:          granted("get pods in team", "get elasticquotas.scheduling.sigs.k8s.io in team"),
			wantSummary:  "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient quotas, quotaName: team, used: 3.",
			wantMessages: []string{"Insufficient cpu", "Insufficient quotas, quotaName: team, used: 3"}, wantVictims: []string{"low"},
			wantWithheld: []diagnosticsv1alpha1.Withheld{{Resource: "elasticquotas.scheduling.sigs.k8s.io", Count: 1}, {Resource: "nodes", Count: 2}, {Resource: "pods", Count: 1}},
		},
		"who may get all but nodes": {
			may:          granted(everyGet[1:]...),
			wantSummary:  "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient quotas, quotaName: team, used: 3.",
			wantMessages: []string{"Insufficient cpu", "quota team: cpu used 3 + this pod 8 > max 4; above their min: other holds 2"}, wantVictims: []string{"low", "cart"},
			wantWithheld: []diagnosticsv1alpha1.Withheld{{Resource: "nodes", Count: 2}},
		},
		"who may get one of the nodes": {
			may:          granted("get pods", "get nodes node-b"),
			wantSummary:  "0/2 nodes are available: 2 Insufficient cpu, 2 " + neutral(string(finding.QuotaMaxExceeded), "") + ".",
			wantMessages: []string{"Insufficient cpu", neutral(string(finding.QuotaMaxExceeded), "")}, wantNodes: []string{"node-b"}, wantVictims: []string{"low", "cart"},
			wantWithheld: []diagnosticsv1alpha1.Withheld{{Resource: "elasticquotas.scheduling.sigs.k8s.io", Count: 2}, {Resource: "nodes", Count: 1}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status := crowded()
			PodExplanation(status, tc.may)
			var messages, nodes, victims []string
			for _, group := range status.Groups {
				messages = append(messages, group.Message)
				for _, node := range group.Nodes {
					nodes = append(nodes, node.Node)
				}
			}
			for _, victim := range status.Preemption.Victims {
				victims = append(victims, victim.Name)
			}
			for what, pair := range map[string][2]any{
				"summary": {tc.wantSummary, status.Summary}, "messages": {tc.wantMessages, messages}, "nodes": {tc.wantNodes, nodes},
				"victims": {tc.wantVictims, victims}, "withheld": {tc.wantWithheld, status.Withheld},
			} {
				if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			if status.Verdict != diagnosticsv1alpha1.PodUnschedulable || status.NodesTotal != 2 || status.Groups[0].Count != 2 {
				t.Errorf("verdict and counts are %s, %d, %d", status.Verdict, status.NodesTotal, status.Groups[0].Count)
			}
		})
	}
}

func TestTheNodeOfThePodIsNamed(t *testing.T) {
	status := &podStatus{
		Verdict: diagnosticsv1alpha1.PodBound, Summary: "bound to node-a, which would now be refused: needs 8 cores, 2 free",
		Pod: diagnosticsv1alpha1.PodFacts{Namespace: "team", Name: "web", NodeName: "node-a"},
		Placement: &diagnosticsv1alpha1.Placement{
			Node: "node-a", Rank: 2, Scores: []diagnosticsv1alpha1.NodeScore{{Node: "node-b", Total: 90}, {Node: "node-a", Total: 80}},
		},
		NodesFeasible: 3,
	}
	PodExplanation(status, nobody)
	if want := "bound to node-a, which now ranks 2 of 3 available nodes"; status.Summary != want || status.Placement.Node != "node-a" || len(status.Placement.Scores) > 0 {
		t.Errorf("summary %q, placement %+v, want %q and no scores", status.Summary, status.Placement, want)
	}
}

func TestFixesThatTheCallerMayNotMakeAreRights(t *testing.T) {
	step := func(verb, resource, namespace, name string) diagnosticsv1alpha1.FixStep {
		return diagnosticsv1alpha1.FixStep{Verb: verb, Resource: resource, Namespace: namespace, Name: name}
	}
	tests := map[string]struct {
		fix       diagnosticsv1alpha1.Fix
		may       Access
		wantNeeds []string
		wantCount int32
	}{
		"a step that the caller may take": {
			fix: diagnosticsv1alpha1.Fix{Steps: []diagnosticsv1alpha1.FixStep{step("patch", "pods", "team", "web")}},
			may: granted("patch pods in team", "get pods in team"),
		},
		"pods that the caller may not delete": {
			fix: diagnosticsv1alpha1.Fix{Steps: []diagnosticsv1alpha1.FixStep{step("delete", "pods", "team", "low"), step("delete", "pods", "shop", "cart")}},
			may: granted("get pods", "delete pods in team"), wantNeeds: []string{"delete pods"}, wantCount: 2,
		},
		"a command that a person finishes": {
			fix: diagnosticsv1alpha1.Fix{Steps: []diagnosticsv1alpha1.FixStep{step("", "reservations", "", "nightly")}},
			may: granted("get reservations"), wantNeeds: []string{"patch reservations"}, wantCount: 1,
		},
		"a pod that is created anew": {
			fix: diagnosticsv1alpha1.Fix{Manifest: "kind: Pod"}, may: granted("delete pods in team"), wantNeeds: []string{"create pods"}, wantCount: 1,
		},
		"another node": {
			fix: diagnosticsv1alpha1.Fix{Kind: "reduceRequest+addNode", Mentions: []ref{{Kind: "Node", Name: "node-a"}}}, may: granted("get nodes"),
			wantNeeds: []string{"create nodes"}, wantCount: 1,
		},
		"a quota that the caller may not get": {
			fix: diagnosticsv1alpha1.Fix{Mentions: []ref{{Kind: "ElasticQuota", Namespace: "shop", Name: "other"}}}, may: nobody,
			wantNeeds: []string{"get elasticquotas.scheduling.sigs.k8s.io"}, wantCount: 1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status := &podStatus{Pod: diagnosticsv1alpha1.PodFacts{Namespace: "team", Name: "web"}, Fix: &tc.fix}
			PodExplanation(status, tc.may)
			if beyond := status.FixBeyondRights; beyond == nil {
				if len(tc.wantNeeds) > 0 || status.Fix == nil {
					t.Errorf("the fix is %+v, want it to need %q", status.Fix, tc.wantNeeds)
				}
			} else if !slices.Equal(beyond.Needs, tc.wantNeeds) || beyond.Objects != tc.wantCount || status.Fix != nil {
				t.Errorf("needs %q for %d objects beside fix %+v, want %q for %d", beyond.Needs, beyond.Objects, status.Fix, tc.wantNeeds, tc.wantCount)
			}
		})
	}
}

func TestPodsOfANodeAreCounted(t *testing.T) {
	pod := func(namespace, name string) diagnosticsv1alpha1.Term {
		return diagnosticsv1alpha1.Term{Name: namespace + "/" + name, Source: &ref{Kind: "NodeMetric", Name: "node-a"}, Object: &ref{Kind: "Pod", Namespace: namespace, Name: name}}
	}
	status := &nodeStatus{
		Node: diagnosticsv1alpha1.NodeFacts{Name: "node-a"},
		Waterfalls: []diagnosticsv1alpha1.Waterfall{{Terms: []diagnosticsv1alpha1.Term{
			{Name: "podsUsed", Value: 9, Source: &ref{Kind: "NodeMetric", Name: "node-a"}, Parts: []diagnosticsv1alpha1.Term{pod("shop", "cart"), pod("team", "web")}, PartsOmitted: 3},
		}}},
		Agent: &diagnosticsv1alpha1.AgentExplanation{
			CPUs: &diagnosticsv1alpha1.CPUExplanation{Owners: []diagnosticsv1alpha1.CPUOwner{{Name: "node reservation"}, {Namespace: "shop", Name: "db"}}},
			Evictions: &diagnosticsv1alpha1.EvictionForecast{Triggers: []diagnosticsv1alpha1.EvictionTrigger{
				{Candidates: []diagnosticsv1alpha1.EvictionCandidate{{Namespace: "team", Name: "web"}, {Namespace: "shop", Name: "cart"}, {Namespace: "team", Name: "task", Agent: "yarn"}}},
			}},
			Agents: []diagnosticsv1alpha1.ContainerAgent{{Name: "yarn", Problems: []string{"task is odd"}, Containers: []diagnosticsv1alpha1.AgentContainer{{Namespace: "team", Name: "task"}}}},
		},
	}
	NodeExplanation(status, granted("get pods in team"))
	if agent := status.Agent.Agents[0]; len(agent.Containers) != 0 || agent.Omitted != 1 || strings.Contains(agent.Problems[0], "task") {
		t.Errorf("a caller who may not get all pods sees %+v", agent)
	}
	podsUsed, trigger := status.Waterfalls[0].Terms[0], status.Agent.Evictions.Triggers[0]
	if len(podsUsed.Parts) != 1 || podsUsed.Parts[0].Name != "team/web" || podsUsed.PartsOmitted != 4 || podsUsed.Value != 9 {
		t.Errorf("the sum is %+v", podsUsed)
	}
	if owners := status.Agent.CPUs.Owners; len(owners) != 1 || owners[0].Namespace != "" {
		t.Errorf("owners are %+v", owners)
	}
	if len(trigger.Candidates) != 1 || trigger.Candidates[0].Name != "web" || trigger.CandidatesOmitted != 2 {
		t.Errorf("candidates are %+v and %d more", trigger.Candidates, trigger.CandidatesOmitted)
	}
	if diff := cmp.Diff([]diagnosticsv1alpha1.Withheld{{Resource: "pods", Count: 2}}, status.Withheld); diff != "" {
		t.Errorf("withheld (-want +got):\n%s", diff)
	}
}
