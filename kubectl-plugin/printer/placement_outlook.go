package printer

import (
	"fmt"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/outlook"
)

// PlacementOutlook prints for how long new pods keep what they request: in one sentence, then the steps at which it gets less; with -o
// wide also the nodes, and from what is predicted of each.
func PlacementOutlook(w io.Writer, f *diagnosticsv1alpha1.PlacementForecast, o Options) error {
	if f.Outlook == nil || len(f.Outlook.Steps) == 0 {
		return nil
	}
	if err := title(w, "For how long", o); err != nil {
		return err
	}
	var b strings.Builder
	wrapped(&b, o, 2, o.say(f.Outlook.Message))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if len(f.Outlook.Steps) > 1 {
		if err := outlookSteps(w, f.Outlook, o); err != nil {
			return err
		}
	}
	if !o.Wide {
		return nil
	}
	return outlookNodes(w, f.Outlook, o)
}

func outlookSteps(w io.Writer, lasting *diagnosticsv1alpha1.CopiesOutlook, o Options) error {
	columns := []column{{header: "WITHIN"}, {header: "PODS", right: true}, {header: "UNPREDICTED", right: true, wide: lasting.Steps[len(lasting.Steps)-1].Unpredicted == 0}}
	for _, share := range lasting.Steps[0].Free {
		columns = append(columns, column{header: "FREE-" + strings.ToUpper(shortResource(share.Resource)), right: true, drop: 1})
	}
	t := table{indent: 2, columns: columns}
	for i := range lasting.Steps {
		step := &lasting.Steps[i]
		role := Plain
		if step.Copies+step.Unpredicted < lasting.Steps[0].Copies {
			role = Warn
		}
		row := []cell{text(OutlookWithin(step.WithinSeconds)), painted(role, fmt.Sprint(step.Copies)), text(fmt.Sprint(step.Unpredicted))}
		for _, share := range step.Free[:min(len(step.Free), len(columns)-len(row))] {
			row = append(row, text(Quantity(share.Amount, share.Unit)))
		}
		t.add(row...)
	}
	_, err := t.render(w, o)
	return err
}

// OutlookWithin is the time of a step of an outlook: now, a number of hours, or the peak of services, whose time nobody knows.
func OutlookWithin(seconds *int64) string {
	switch {
	case seconds == nil:
		return "peak"
	case *seconds == 0:
		return "now"
	}
	return outlook.Within(*seconds)
}

func outlookNodes(w io.Writer, lasting *diagnosticsv1alpha1.CopiesOutlook, o Options) error {
	t := table{indent: 2, columns: []column{
		{header: "NODE", flexible: 12}, {header: "PODS", right: true}, {header: "KEEP", right: true}, {header: "WITHIN"}, {header: "PREDICTOR"}, {header: "FROM", flexible: 24, says: true},
	}}
	for i := range lasting.Nodes {
		node := &lasting.Nodes[i]
		keep, within := "<unknown>", "-"
		if node.Lasting != nil {
			keep, within = fmt.Sprint(*node.Lasting), OutlookWithin(nil)
			if node.WithinSeconds > 0 {
				within = OutlookWithin(&node.WithinSeconds)
			}
		}
		t.add(text(node.Name), text(fmt.Sprint(node.Copies)), text(keep), text(within), text(orNone(node.Predictor)), text(outlookFrom(node)))
	}
	_, err := t.render(w, o)
	return err
}

// outlookFrom says from what is predicted of each resource of a node.
func outlookFrom(node *diagnosticsv1alpha1.CopiesOutlookNode) string {
	if node.Problem != "" {
		return node.Problem
	}
	parts := make([]string, len(node.Offers))
	for i := range node.Offers {
		parts[i] = shortResource(node.Offers[i].Resource) + ": " + node.Offers[i].Note
	}
	return strings.Join(parts, "; ")
}
