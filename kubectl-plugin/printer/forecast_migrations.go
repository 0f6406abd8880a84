package printer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// loadWidth is the cells of the bar of a load.
const loadWidth = 20

// loadColumn is the drawing of a load before and after the moves.
const loadColumn = "LOAD"

// MigrationForecast prints what the descheduler would move, and what that does to the load of the nodes.
func MigrationForecast(w io.Writer, f *diagnosticsv1alpha1.MigrationForecast, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, o.Style.Paint(Strong, o.say(f.Message)))
	if f.DryRun {
		wrapped(&b, o, 2, o.Style.Paint(Warn, o.say("dryRun is true: koord-descheduler records evictions and makes none")))
	}
	for _, note := range f.Notes {
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(note)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	for _, part := range []func(io.Writer, *diagnosticsv1alpha1.MigrationForecast, Options) error{forecastMoves, forecastRemedies, forecastNodes, forecastPools, forecastStays} {
		if err := part(w, f, o); err != nil {
			return err
		}
	}
	return nil
}

func forecastMoves(w io.Writer, f *diagnosticsv1alpha1.MigrationForecast, o Options) error {
	if len(f.Moves) == 0 {
		return nil
	}
	if err := title(w, "Moves", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "ROUND", right: true}, {header: "IN", right: true}, {header: "POD", flexible: 16}, {header: "FROM", flexible: 10}, {header: "TO", flexible: 10},
		{header: "ALSO-FITS", wide: true}, {header: "USES", wide: true}, {header: "REASON", flexible: 20, drop: 1, says: true}, {header: "KEYS", wide: true},
	}}
	for i := range f.Moves {
		m := &f.Moves[i]
		to := painted(Good, m.To)
		if m.To == "" {
			to = painted(Dim, "<scheduler>")
		}
		t.add(text(fmt.Sprint(m.Round)), text(seconds(m.Seconds)), text(m.Namespace+"/"+m.Name), text(m.From), to,
			text(orNone(strings.Join(m.Alternatives, ","))), text(ForecastAmounts(m.Usage)), text(m.Reason), text(forecastKeys(m.Keys)))
	}
	_, err := t.render(w, o)
	return err
}

// forecastRemedies lists what relieves nodes without a move.
func forecastRemedies(w io.Writer, f *diagnosticsv1alpha1.MigrationForecast, o Options) error {
	if len(f.Remedies) == 0 {
		return nil
	}
	if err := title(w, "Cheaper remedies", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "ROUND", right: true}, {header: "IN", right: true}, {header: "REMEDY"}, {header: "POD", flexible: 16}, {header: "NODE", flexible: 10},
		{header: "CPU-LIMIT"}, {header: "REASON", flexible: 20, drop: 1, says: true},
	}}
	for i := range f.Remedies {
		r := &f.Remedies[i]
		pod, limit := "-", "-"
		if r.Name != "" {
			pod = r.Namespace + "/" + r.Name
		}
		if r.BeforeMilliCPU > 0 {
			limit = Quantity(r.BeforeMilliCPU, diagnosticsv1alpha1.MilliCPU) + " -> " + Quantity(r.AfterMilliCPU, diagnosticsv1alpha1.MilliCPU)
		}
		t.add(text(fmt.Sprint(r.Round)), text(seconds(r.Seconds)), text(r.Remedy), text(pod), text(r.Node), text(limit), text(r.Reason))
	}
	_, err := t.render(w, o)
	return err
}

// ForecastAmounts are amounts in one text, such as cpu=4,memory=8Gi.
func ForecastAmounts(list []diagnosticsv1alpha1.ForecastAmount) string {
	var parts []string
	for _, a := range list {
		parts = append(parts, a.Resource+"="+Quantity(a.Amount, a.Unit))
	}
	return orNone(strings.Join(parts, ","))
}

func forecastKeys(keys []diagnosticsv1alpha1.ForecastKey) string {
	var parts []string
	for _, key := range keys {
		parts = append(parts, key.Name+"="+key.Value)
	}
	return orNone(strings.Join(parts, " "))
}

// forecastNodes lists the nodes, one line for each resource that is compared with thresholds.
func forecastNodes(w io.Writer, f *diagnosticsv1alpha1.MigrationForecast, o Options) error {
	if len(f.Nodes) == 0 {
		return nil
	}
	if err := title(w, "Nodes", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "NODE", flexible: 10}, {header: "POOL", wide: true}, {header: "CLASS"}, {header: "THEN"}, {header: "RESOURCE", flexible: 6},
		{header: loadColumn, drop: 1, terminal: true}, {header: "BEFORE", right: true}, {header: "AFTER", right: true},
		{header: "LOW", right: true, drop: 2}, {header: "HIGH", right: true, drop: 2}, {header: "WHY", wide: true, says: true},
	}}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if len(n.Resources) == 0 {
			t.add(text(n.Name), text(orNone(n.Pool)), forecastClass(n.Class), forecastClass(n.ClassAfter), text("-"), text(""), text("-"), text("-"), text("-"), text("-"), text(""))
			continue
		}
		for j := range n.Resources {
			r := &n.Resources[j]
			name, pool, class, then, why := text(""), text(""), text(""), text(""), text("")
			if j == 0 {
				name, pool, class, then, why = text(n.Name), text(orNone(n.Pool)), forecastClass(n.Class), forecastClass(n.ClassAfter), text(n.Ended)
			}
			t.add(name, pool, class, then, text(r.Resource), styled(loadBar(r, loadWidth, o.Style)), basisCell(&r.BeforeBasisPoints), basisCell(&r.AfterBasisPoints),
				basisCell(r.LowBasisPoints), basisCell(r.HighBasisPoints), why)
		}
	}
	hidden, err := t.render(w, o)
	if err != nil {
		return err
	}
	var b strings.Builder
	if o.Width > 0 && !o.Wide && !slices.Contains(hidden, loadColumn) && drawn(f) {
		wrapped(&b, o, 2, loadLegend(o.Style))
	}
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Problem != "" {
			wrapped(&b, o, 2, o.Style.Paint(Warn, o.Style.Clean(n.Name)+": "+o.say(n.Problem)))
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func drawn(f *diagnosticsv1alpha1.MigrationForecast) bool {
	for i := range f.Nodes {
		if len(f.Nodes[i].Resources) > 0 {
			return true
		}
	}
	return false
}

func forecastClass(class string) cell {
	switch class {
	case "high", "prodHigh":
		return painted(Bad, class)
	case "unknown":
		return painted(Warn, class)
	case "low", "bothLow", "prodLow":
		return painted(Good, class)
	}
	return text(class)
}

// basisCell formats hundredths of a percent.
func basisCell(points *int64) cell {
	if points == nil {
		return text("-")
	}
	return text(decimal(float64(*points)/100, 1) + "%")
}

// loadBar draws a load before and after in one line: what stays, what leaves, what arrives, what is free; the high threshold is a line
// between the cells.
func loadBar(r *diagnosticsv1alpha1.ForecastLoad, width int, style Style) string {
	cells := func(points int64) int { return min(max(int((points*int64(width)+5000)/10000), 0), width) }
	before, after := cells(r.BeforeBasisPoints), cells(r.AfterBasisPoints)
	spans := []struct {
		role Role
		to   int
	}{{Good, min(before, after)}, {Bad, before}, {BatchFree, after}, {Idle, width}}
	mark := -1
	if r.HighBasisPoints != nil {
		mark = cells(*r.HighBasisPoints)
	}
	var b strings.Builder
	at := 0
	for _, span := range spans {
		if mark >= at && mark <= span.to {
			b.WriteString(style.Bar(span.role, mark-at) + style.Paint(Strong, "|"))
			at, mark = mark, -1
		}
		b.WriteString(style.Bar(span.role, span.to-at))
		at = max(at, span.to)
	}
	return b.String()
}

func loadLegend(style Style) string {
	return strings.Join([]string{
		style.Bar(Good, 1) + " stays", style.Bar(Bad, 1) + " leaves", style.Bar(BatchFree, 1) + " arrives", style.Bar(Idle, 1) + " free", style.Paint(Strong, "|") + " high threshold",
	}, "  ")
}

// forecastPools says why nothing moves in pools, where something moves in others.
func forecastPools(w io.Writer, f *diagnosticsv1alpha1.MigrationForecast, o Options) error {
	if len(f.Moves) == 0 {
		return nil // the message says it
	}
	var b strings.Builder
	for i := range f.Pools {
		p := &f.Pools[i]
		name := "node pool " + p.Name
		if p.Name == "" {
			name = "profile " + p.Profile
		}
		if p.Prod {
			name += " (prod)"
		}
		what := p.Stop
		if what == "" {
			what = fmt.Sprintf("%d underutilized, %d overutilized; pods still leave", p.Underutilized, p.Overutilized)
		}
		wrapped(&b, o, 2, o.say(fmt.Sprintf("%s, last round: %s", name, what)))
	}
	if b.Len() == 0 {
		return nil
	}
	if err := title(w, "Where it stops", o); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// forecastStays lists the pods of overutilized nodes that stay, with -o wide or where nothing moves.
func forecastStays(w io.Writer, f *diagnosticsv1alpha1.MigrationForecast, o Options) error {
	if len(f.Stays) == 0 {
		return nil
	}
	if !o.Wide && len(f.Moves) > 0 {
		return line(w, o, Dim, phrase.Counted(len(f.Stays), "pod")+" of overutilized nodes considered and not moved; -o wide lists them")
	}
	if err := title(w, "Pods that stay", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "NODE", flexible: 10}, {header: "POD", flexible: 16}, {header: "REASON", flexible: 20, says: true}}}
	for i := range f.Stays {
		s := &f.Stays[i]
		t.add(text(s.Node), text(s.Namespace+"/"+s.Name), text(s.Reason))
	}
	_, err := t.render(w, o)
	return err
}
