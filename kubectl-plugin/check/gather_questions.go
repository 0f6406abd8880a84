package check

import (
	"context"
	"fmt"
	"slices"
	"time"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/install"
	"koordinator.sh/koord/source"
)

// readOverviews asks how old the NodeMetrics are, as `top nodes` does.
func readOverviews(ctx context.Context, c *Cluster, f *Facts) error {
	return fact(ctx, &f.Overviews, "list nodes", func(ctx context.Context) ([]diagnosticsv1alpha1.NodeOverview, error) {
		list, err := c.Source.Nodes(ctx, source.NodeQuery{})
		if err != nil {
			return nil, err
		}
		return list.Items, nil
	})
}

// readConfig judges the configuration as `config lint` does.
func readConfig(ctx context.Context, c *Cluster, f *Facts) error {
	configurator, ok := c.Source.(source.Configurator)
	if !ok {
		f.Config.Unread = []string{"read the configuration: this source is not a running cluster"}
		return nil
	}
	return fact(ctx, &f.Config, "get configmap slo-controller-config", func(ctx context.Context) (ConfigFacts, error) {
		current, err := configurator.Configuration(ctx, f.Namespace)
		if err != nil {
			return ConfigFacts{}, err
		}
		out := ConfigFacts{Incomplete: current.Incomplete}
		nodes, err := configurator.ConfigurationNodes(ctx)
		if err != nil {
			out.Incomplete = append(slices.Clone(out.Incomplete), err.Error()+"; strategies are checked by their selectors only")
		}
		out.Found = current.Judge(current.Base(), nodes)
		return out, nil
	})
}

// patience is how long the answers of all agents are waited for.
const patience = time.Minute

// ask asks the agents of all nodes for their features. It comes after the nodes are known, and only where the diagnostics API, through
// which agents are asked, is available: without it each node would be explained from objects, which know no kernel.
func (c *Cluster) ask(ctx context.Context, f *Facts, selection Selection) error {
	if selection.Before || !slices.Contains(selection.Categories, Node) && !slices.Contains(selection.Categories, Agent) {
		return nil
	}
	explainer, ok := c.Source.(source.BatchExplainer)
	if !ok || f.Installation.Status.API.State != install.StateReady || len(f.Nodes.Value) == 0 {
		return nil
	}
	names := make([]string, len(f.Nodes.Value))
	for i := range f.Nodes.Value {
		names[i] = f.Nodes.Value[i].Name
	}
	question := diagnosticsv1alpha1.NodeExplanationSpec{
		Agent: &diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionFeatures}},
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	explained, err := explainer.ExplainNodes(asking, names, question)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // agents that do not answer say nothing about the API server
		f.Agents.Unread = []string{fmt.Sprintf("create nodeexplanationbatches: %s", err)}
		return nil
	}
	for i := range explained {
		f.Agents.Value = append(f.Agents.Value, AgentAnswer{Node: explained[i].Spec.NodeName, Agent: explained[i].Status.Agent})
	}
	return nil
}
