package printer

import (
	"fmt"
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// PlacementForecast prints where pods would get nodes: the verdict first, then the pods that wait, the nodes that take pods and for how
// long, what refuses the first one without a node, and how full the cluster is.
func PlacementForecast(w io.Writer, f *diagnosticsv1alpha1.PlacementForecast, o Options) error {
	if err := forecastHead(w, PlacementRole(f.Verdict), string(f.Verdict), f.Message, nil, f.Notes, o); err != nil {
		return err
	}
	for _, part := range []func(io.Writer, *diagnosticsv1alpha1.PlacementForecast, Options) error{
		PlacementWaiting, placementNewNodes, PlacementCopies, PlacementOutlook, placementRefusals, PlacementCapacity,
	} {
		if err := part(w, f, o); err != nil {
			return err
		}
	}
	return findings(w, f.Findings, o)
}

// PlacementRole is the role in which a verdict is shown.
func PlacementRole(verdict diagnosticsv1alpha1.PlacementForecastVerdict) Role {
	switch verdict {
	case diagnosticsv1alpha1.PlacementFits:
		return Good
	case diagnosticsv1alpha1.PlacementPartial, diagnosticsv1alpha1.PlacementUnknown:
		return Warn
	}
	return Bad
}

// PlacementWaiting lists where the pods that wait for a node get one.
func PlacementWaiting(w io.Writer, f *diagnosticsv1alpha1.PlacementForecast, o Options) error {
	if len(f.Waiting) == 0 {
		return nil
	}
	if err := title(w, "Waiting pods", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "POD", flexible: 16}, {header: "TO", flexible: 10}, {header: "WITHOUT", flexible: 10, wide: len(f.NewNodes) == 0 && f.Offers == 0}, {header: "REASON", flexible: 20, drop: 1, says: true},
	}}
	for i := range f.Waiting {
		p := &f.Waiting[i]
		reason := p.Summary
		if p.Verdict == diagnosticsv1alpha1.PlacementFound && !o.Wide {
			reason = ""
		}
		t.add(text(p.Namespace+"/"+p.Name), waitingTo(p), text(orNone(p.NodeWithout)), text(orNone(reason)))
	}
	_, err := t.render(w, o)
	return err
}

func waitingTo(p *diagnosticsv1alpha1.WaitingPlacement) cell {
	switch p.Verdict {
	case diagnosticsv1alpha1.PlacementFound:
		return painted(Good, p.Node)
	case diagnosticsv1alpha1.PlacementGated:
		return painted(Warn, "<gated>")
	}
	return painted(Bad, "<none>")
}

func placementNewNodes(w io.Writer, f *diagnosticsv1alpha1.PlacementForecast, o Options) error {
	if len(f.NewNodes) == 0 {
		return nil
	}
	if err := title(w, "New nodes", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "NODE", flexible: 12}, {header: "LIKE", flexible: 10}, {header: "PODS", right: true}}}
	for i := range f.NewNodes {
		n := &f.NewNodes[i]
		role := Plain
		if n.Pods == 0 {
			role = Dim
		}
		t.add(text(n.Name), text(n.Like), painted(role, fmt.Sprint(n.Pods)))
	}
	_, err := t.render(w, o)
	return err
}

// PlacementCopies lists the nodes that take copies; without -o wide, those that take most.
func PlacementCopies(w io.Writer, f *diagnosticsv1alpha1.PlacementForecast, o Options) error {
	const most = 20
	if f.Copies == nil || len(f.Copies.Nodes) == 0 {
		return nil
	}
	if err := title(w, "Nodes that take new pods", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "NODE", flexible: 12}, {header: "COPIES", right: true}}}
	shown := f.Copies.Nodes
	if !o.Wide {
		shown = shown[:min(len(shown), most)]
	}
	for _, node := range shown {
		t.add(text(node.Name), text(fmt.Sprint(node.Copies)))
	}
	if _, err := t.render(w, o); err != nil || len(shown) == len(f.Copies.Nodes) {
		return err
	}
	return more(w, phrase.Counted(len(f.Copies.Nodes)-len(shown), "node")+" more; -o wide lists all", o)
}

// AgainstOneMore is the title of the reasons for which nodes refuse the first copy that gets no node.
const AgainstOneMore = "Reasons against one more"

// placementRefusals lists why the first copy without a node is refused.
func placementRefusals(w io.Writer, f *diagnosticsv1alpha1.PlacementForecast, o Options) error {
	if f.Copies == nil || len(f.Copies.Groups) == 0 {
		return nil
	}
	if err := title(w, AgainstOneMore, o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "NODES", right: true}, {header: "CODE"}, {header: "REASON", flexible: 20, says: true}}}
	for i := range f.Copies.Groups {
		g := &f.Copies.Groups[i]
		t.add(text(fmt.Sprint(g.Count)), text(orNone(g.Code)), text(g.Message))
	}
	_, err := t.render(w, o)
	return err
}

// changeHeader is the title of what is offered more.
func changeHeader(f *diagnosticsv1alpha1.PlacementForecast) string {
	if f.Offers > 0 {
		return "CHANGE"
	}
	return "ADDED"
}

// PlacementCapacity lists how full the cluster is, before and after.
func PlacementCapacity(w io.Writer, f *diagnosticsv1alpha1.PlacementForecast, o Options) error {
	if len(f.Capacity) == 0 {
		return nil
	}
	if err := title(w, "Cluster", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "RESOURCE", flexible: 6}, {header: "OFFERED", right: true}, {header: changeHeader(f), right: true, wide: len(f.NewNodes) == 0 && f.Offers == 0},
		{header: "REQ-BEFORE", right: true}, {header: "REQ-AFTER", right: true},
	}}
	for i := range f.Capacity {
		c := &f.Capacity[i]
		t.add(text(shortResource(c.Resource)), text(Quantity(c.Allocatable, c.Unit)), text(Quantity(c.Added, c.Unit)),
			shareOf(&c.RequestedBefore, c.Allocatable), shareOf(&c.RequestedAfter, c.Allocatable+c.Added))
	}
	_, err := t.render(w, o)
	return err
}
