package printer

import (
	"fmt"
	"io"
	"strconv"
	"time"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// agentFeatures prints how each feature stands, and below the table what went wrong last.
func agentFeatures(w io.Writer, features []diagnosticsv1alpha1.AgentFeature, o Options) error {
	if len(features) == 0 {
		return nil
	}
	if err := title(w, "Features", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "RANK", right: true, drop: 3}, {header: "FEATURE"}, {header: "GATE", drop: 2}, {header: "CONFIGURED"}, {header: "SUPPORTED", drop: 1},
		{header: "ACTIVE"}, {header: "EFFECTIVE"}, {header: "VALUES", right: true, drop: 4}, {header: "REASON", flexible: 20, drop: 5, says: true},
	}}
	for i := range features {
		f := &features[i]
		rank, gate, values := "-", "off", "-"
		if f.Rank > 0 {
			rank = strconv.Itoa(int(f.Rank))
		}
		if f.Gate {
			gate = "on"
		}
		if f.Wanted > 0 {
			values = fmt.Sprintf("%d/%d", f.InForce, f.Wanted)
		}
		t.add(text(rank), text(f.Name), gateCell(f, gate), stateCell(f.Configured), stateCell(f.Supported), stateCell(f.Active), effectiveCell(f, o),
			text(values), painted(Dim, f.Reason))
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	for i := range features {
		if err := featureNotes(w, &features[i], o); err != nil {
			return err
		}
	}
	return nil
}

// featureNotes prints what a feature that is on reports, what it cannot do, and what failed last.
func featureNotes(w io.Writer, f *diagnosticsv1alpha1.AgentFeature, o Options) error {
	for _, note := range FeatureNotes(f, o.Now) {
		if err := line(w, o, note.Role, note.Text); err != nil {
			return err
		}
	}
	return nil
}

// FeatureNote is a sentence about a feature.
type FeatureNote struct {
	Role Role
	Text string
}

// FeatureNotes are what a feature reports beside its states: what it does, what it cannot do, and what failed last. Of one
// that is switched off only failures are printed.
func FeatureNotes(f *diagnosticsv1alpha1.AgentFeature, now time.Time) []FeatureNote {
	var out []FeatureNote
	if f.Gate && f.State != "" {
		out = append(out, FeatureNote{Dim, f.Name + ": " + f.State})
	}
	if f.Gate {
		for _, problem := range f.Problems {
			out = append(out, FeatureNote{Warn, f.Name + " is limited: " + problem})
		}
	}
	if f.LastError != "" {
		out = append(out, FeatureNote{Warn, fmt.Sprintf("%s failed %s: %s", f.Name, Ago(now, f.LastErrorAt), f.LastError)})
	}
	return out
}

// gateCell is unknown where no agent said it.
func gateCell(f *diagnosticsv1alpha1.AgentFeature, gate string) cell {
	if f.Supported == diagnosticsv1alpha1.FeatureUnknown && f.Active == diagnosticsv1alpha1.FeatureUnknown && !f.Gate {
		return painted(Dim, unknown)
	}
	return text(gate)
}

func stateCell(state diagnosticsv1alpha1.FeatureState) cell {
	switch state {
	case diagnosticsv1alpha1.FeatureYes:
		return text("yes")
	case diagnosticsv1alpha1.FeatureNo:
		return painted(Dim, "no")
	case diagnosticsv1alpha1.FeaturePartly:
		return painted(Warn, "partly")
	}
	return painted(Dim, unknown)
}

// effectiveCell marks what is asked for and has no effect.
func effectiveCell(f *diagnosticsv1alpha1.AgentFeature, o Options) cell {
	switch {
	case f.Effective == diagnosticsv1alpha1.FeatureYes:
		return styled(o.Style.Mark(Good) + " yes")
	case f.Effective == diagnosticsv1alpha1.FeaturePartly:
		return styled(o.Style.Mark(Warn) + o.Style.Paint(Warn, " partly"))
	case f.Effective == diagnosticsv1alpha1.FeatureNo && f.Wanted > 0:
		return styled(o.Style.Mark(Bad) + o.Style.Paint(Bad, " no"))
	}
	return stateCell(f.Effective)
}
