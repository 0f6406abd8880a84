package printer

import (
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// QuotaVerification prints whether what is published of quotas follows from the pods and nodes, and what does not.
func QuotaVerification(w io.Writer, v *diagnosticsv1alpha1.QuotaVerification, o Options) error {
	var notes []string
	if len(v.Differences) > 0 {
		notes = append(notes, Called(o.Program, "koordctl why "+string(finding.QuotaFiguresDiffer)+" says what to do"))
	}
	if err := forecastHead(w, quotaVerdictRole(v.Verdict), string(v.Verdict), v.Message, nil, notes, o); err != nil || len(v.Differences) == 0 {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "QUOTA", flexible: 12}, {header: "FIGURE"}, {header: "RESOURCE", flexible: 6}, {header: "PUBLISHED", right: true}, {header: "COMPUTED", right: true},
	}}
	for i := range v.Differences {
		d := &v.Differences[i]
		t.add(text(d.Namespace+"/"+d.Quota), text(string(d.Figure)), text(shortResource(d.Resource)), amountOr(d.Published, d.Unit, "<none>"), amountOr(d.Computed, d.Unit, "<none>"))
	}
	_, err := t.render(w, o)
	return err
}

func quotaVerdictRole(verdict diagnosticsv1alpha1.QuotaVerdict) Role {
	if verdict == diagnosticsv1alpha1.QuotaAgrees {
		return Good
	}
	return Warn
}
