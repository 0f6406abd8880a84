package agentview

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

const yarnCgroup = "kubepods/besteffort/hadoop-yarn"

func agentsInput() *AgentsInput {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	return &AgentsInput{
		Now: at, Most: 10, Agents: []ContainerAgent{{Name: "yarn", Socket: "/run/yarn.sock", ListedAt: at, Parents: []string{yarnCgroup}}},
		Containers: []eviction.Container{
			{Agent: "yarn", Namespace: "yarn", Name: "long", Priority: 5500, CPUTime: new(time.Hour), Created: at.Add(-time.Hour)},
			{Agent: "yarn", Namespace: "yarn", Name: "short", Priority: 5500, CPUTime: new(time.Minute), Requests: podrequest.Amount{MilliCPU: 1000, Memory: 8}, Used: &podrequest.Amount{MilliCPU: 500, Memory: 4}},
			{Agent: "presto", Namespace: "presto", Name: "other"},
		},
		Evicting:     eviction.Plan{Victims: []eviction.Victim{{Pod: eviction.Ref{Namespace: "yarn", Name: "short", UID: "yarn/short", Agent: "yarn"}}}},
		Applications: []slov1alpha1.HostApplicationSpec{{Name: "yarn-task", QoS: extension.QoSBE}},
		CgroupOf:     func(*slov1alpha1.HostApplicationSpec) (string, error) { return yarnCgroup, nil },
	}
}

func TestAgentsShowContainersInTheOrderOfEviction(t *testing.T) {
	in := agentsInput()
	want := []diagnosticsv1alpha1.ContainerAgent{{
		Name: "yarn", Socket: "/run/yarn.sock", ListedAt: new(metav1.NewTime(in.Now)), Containers: []diagnosticsv1alpha1.AgentContainer{
			{Namespace: "yarn", Name: "short", Priority: 5500, CPURequest: 1000, MemoryRequest: 8, CPUUsed: new(int64(500)), MemoryUsed: new(int64(4)), WorkSeconds: 60, Victim: true},
			{Namespace: "yarn", Name: "long", Priority: 5500, StartedAt: new(metav1.NewTime(in.Now.Add(-time.Hour))), WorkSeconds: 3600},
		},
	}}
	if diff := cmp.Diff(want, Agents(in)); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	in.Most = 1
	if got := Agents(in)[0]; len(got.Containers) != 1 || got.Omitted != 1 {
		t.Errorf("%d containers and %d omitted, want 1 and 1", len(got.Containers), got.Omitted)
	}
}

func TestProblemsOfAgents(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*AgentsInput)
		want   string
	}{
		"none":                             {change: func(*AgentsInput) {}},
		"it failed a moment ago":           {change: func(in *AgentsInput) { in.Agents[0].Problem = "it hangs" }, want: "it hangs"},
		"it failed for long":               {change: func(in *AgentsInput) { in.Agents[0].Problem, in.Agents[0].Stale = "it hangs", true }, want: "none is evicted: it hangs"},
		"it was not asked":                 {change: func(in *AgentsInput) { in.Agents[0] = ContainerAgent{Stale: true} }, want: "not asked yet"},
		"containers cannot be used":        {change: func(in *AgentsInput) { in.Agents[0].Refused, in.Agents[0].RefusedWhy = 2, "of dots" }, want: "2 containers cannot be used, the first because of dots"},
		"no host application":              {change: func(in *AgentsInput) { in.Applications = nil }, want: "no host application of class BE has cgroup " + yarnCgroup},
		"a host application of services":   {change: func(in *AgentsInput) { in.Applications[0].QoS = extension.QoSLS }, want: "no host application"},
		"a host application without a way": {change: func(in *AgentsInput) { in.CgroupOf = nowhere }, want: "no host application"},
		"a host application nearby": {
			change: func(in *AgentsInput) {
				in.CgroupOf = func(*slov1alpha1.HostApplicationSpec) (string, error) { return "kubepods/besteffort/hadoop", nil }
			},
			want: "no host application",
		},
		"a host application above": {change: func(in *AgentsInput) {
			in.CgroupOf = func(*slov1alpha1.HostApplicationSpec) (string, error) { return "kubepods/besteffort", nil }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in := agentsInput()
			test.change(in)
			got := Agents(in)[0].Problems
			if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)) {
				t.Errorf("problems = %q, want %q", got, test.want)
			}
		})
	}
}

func nowhere(*slov1alpha1.HostApplicationSpec) (string, error) { return "", errors.New("nowhere") }
