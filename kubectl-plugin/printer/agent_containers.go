package printer

import (
	"fmt"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// agentContainers prints the containers of schedulers outside of Kubernetes, those first that evictions take first.
func agentContainers(w io.Writer, agents []diagnosticsv1alpha1.ContainerAgent, o Options) error {
	for i := range agents {
		agent := &agents[i]
		name := agent.Name
		if name == "" {
			name = agent.Socket
		}
		if err := title(w, "Containers of "+name+", in the order of eviction", o); err != nil {
			return err
		}
		for _, problem := range agent.Problems {
			if err := line(w, o, Warn, problem); err != nil {
				return err
			}
		}
		if len(agent.Containers) == 0 {
			if err := line(w, o, Dim, "none is known"); err != nil {
				return err
			}
			continue
		}
		if err := containerTable(w, agent, o); err != nil {
			return err
		}
	}
	return nil
}

// NoContainerAgents says that the node has no agent whose containers could be shown.
func NoContainerAgents(w io.Writer, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, o.Style.Paint(Dim, o.say("koordlet follows no agent of another scheduler on this node")))
	_, err := io.WriteString(w, b.String())
	return err
}

func containerTable(w io.Writer, agent *diagnosticsv1alpha1.ContainerAgent, o Options) error {
	t := table{indent: 2, columns: []column{
		{header: "#", right: true}, {header: "CONTAINER", flexible: 16}, {header: "PRIORITY", right: true, drop: 2}, {header: "CPU", right: true}, {header: "CPU-REQ", right: true, drop: 1},
		{header: "MEMORY", right: true}, {header: "MEM-REQ", right: true, drop: 1}, {header: "AGE", right: true}, {header: "CPU-TIME", right: true},
	}}
	for i := range agent.Containers {
		c := &agent.Containers[i]
		role := Plain
		if c.Victim {
			role = Bad
		}
		t.add(text(fmt.Sprint(i+1)), painted(role, c.Name), text(fmt.Sprint(c.Priority)), measuredCell(c.CPUUsed, diagnosticsv1alpha1.MilliCPU),
			text(Quantity(c.CPURequest, diagnosticsv1alpha1.MilliCPU)), measuredCell(c.MemoryUsed, diagnosticsv1alpha1.Bytes),
			text(Quantity(c.MemoryRequest, diagnosticsv1alpha1.Bytes)), text(Age(o.Now, c.StartedAt)), text(seconds(c.WorkSeconds)))
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	if agent.Omitted == 0 {
		return nil
	}
	return line(w, o, Dim, "and "+phrase.Counted(int(agent.Omitted), "more container"))
}

// measuredCell is what was measured.
func measuredCell(value *int64, unit diagnosticsv1alpha1.Unit) cell {
	if value == nil {
		return text("-")
	}
	return text(Quantity(*value, unit))
}
