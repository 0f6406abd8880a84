package agentview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// ContainerAgent is what koordlet knows of the agent of a scheduler outside of Kubernetes.
type ContainerAgent struct {
	Name, Socket string
	// ListedAt is when its containers were listed last; zero for never.
	ListedAt time.Time
	// Problem is why they could not be listed since; empty when they could.
	Problem string
	// Stale says that the list is too old for evictions to follow it.
	Stale bool
	// Refused counts containers that cannot be used, and RefusedWhy is the reason of the first.
	Refused    int
	RefusedWhy string
	// Parents are the cgroups that the containers are in.
	Parents []string
}

// AgentsInput is what is shown of the agents of a node.
type AgentsInput struct {
	Now    time.Time
	Agents []ContainerAgent
	// Containers of all agents that are known, and what was decided of them last.
	Containers []eviction.Container
	Evicting   eviction.Plan
	// Applications of the node, and CgroupOf one of them.
	Applications []slov1alpha1.HostApplicationSpec
	CgroupOf     func(*slov1alpha1.HostApplicationSpec) (string, error)
	// Most containers of an agent are shown.
	Most int
}

// Agents presents the agents of a node, with their containers in the order in which evictions take them.
func Agents(in *AgentsInput) []diagnosticsv1alpha1.ContainerAgent {
	var out []diagnosticsv1alpha1.ContainerAgent
	for i := range in.Agents {
		agent := &in.Agents[i]
		shown := diagnosticsv1alpha1.ContainerAgent{Name: agent.Name, Socket: agent.Socket, Problems: in.problems(agent)}
		if !agent.ListedAt.IsZero() {
			shown.ListedAt = new(metav1.NewTime(agent.ListedAt))
		}
		of := in.containersOf(agent)
		for n := range of[:min(in.Most, len(of))] {
			shown.Containers = append(shown.Containers, in.containerOf(&of[n]))
		}
		shown.Omitted = int32(len(of) - len(shown.Containers))
		out = append(out, shown)
	}
	return out
}

// problems of an agent, each in one sentence.
func (in *AgentsInput) problems(a *ContainerAgent) []string {
	var out []string
	switch {
	case a.Problem != "" && a.Stale:
		out = append(out, "its containers are unknown, and none is evicted: "+a.Problem)
	case a.Problem != "":
		out = append(out, a.Problem)
	case a.ListedAt.IsZero():
		out = append(out, "it was not asked yet")
	}
	if a.Refused > 0 {
		out = append(out, fmt.Sprintf("%d containers cannot be used, the first because %s", a.Refused, a.RefusedWhy))
	}
	for _, parent := range a.Parents {
		if !in.counted(parent) {
			out = append(out, fmt.Sprintf("no host application of class %s has cgroup %s: usage of its containers counts as usage of the system, for which best-effort pods get less CPU",
				extension.QoSBE, parent))
		}
	}
	return out
}

// counted reports whether a best-effort host application has a cgroup, or one above it.
func (in *AgentsInput) counted(parent string) bool {
	return slices.ContainsFunc(in.Applications, func(application slov1alpha1.HostApplicationSpec) bool {
		at, err := in.CgroupOf(&application)
		return err == nil && application.QoS == extension.QoSBE && strings.HasPrefix(parent+"/", at+"/")
	})
}

// containersOf an agent, those first that evictions take first.
func (in *AgentsInput) containersOf(agent *ContainerAgent) []eviction.Pod {
	var out []eviction.Pod
	for i := range in.Containers {
		if in.Containers[i].Agent == agent.Name {
			out = append(out, eviction.ContainerOf(&in.Containers[i], in.Now))
		}
	}
	return eviction.LeastLossFirst(out)
}

func (in *AgentsInput) containerOf(pod *eviction.Pod) diagnosticsv1alpha1.AgentContainer {
	out := diagnosticsv1alpha1.AgentContainer{
		Namespace: pod.Namespace, Name: pod.Name, Priority: pod.Priority, CPURequest: pod.Requests.Batch.MilliCPU, MemoryRequest: pod.Requests.Batch.Memory,
		WorkSeconds: whole(pod.Work), Victim: slices.ContainsFunc(in.Evicting.Victims, func(v eviction.Victim) bool { return v.Pod == pod.Ref }),
	}
	for i := range in.Containers {
		if c := &in.Containers[i]; c.UID() == pod.UID && !c.Created.IsZero() {
			out.StartedAt = new(metav1.NewTime(c.Created))
		}
	}
	if pod.Used != nil {
		out.CPUUsed, out.MemoryUsed = new(pod.Used.MilliCPU), new(pod.Used.Memory)
	}
	return out
}
