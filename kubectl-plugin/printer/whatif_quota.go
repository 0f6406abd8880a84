package printer

import (
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// QuotaForecast prints what a change of a quota does: the verdict first, then the change, the quotas and the waiting pods.
func QuotaForecast(w io.Writer, f *diagnosticsv1alpha1.QuotaForecast, o Options) error {
	edits := make([]string, len(f.Edits))
	for i := range f.Edits {
		edits[i] = f.Edits[i].Field + ": " + orNone(f.Edits[i].Before) + " -> " + orNone(f.Edits[i].After)
	}
	if err := forecastHead(w, quotaForecastRole(f.Verdict), string(f.Verdict), f.Message, edits, f.Notes, o); err != nil {
		return err
	}
	if err := changedQuotas(w, f, o); err != nil {
		return err
	}
	if err := changedPods(w, "Waiting pods that fit then", "LACKS-NOW", f.Admitted, f.AdmittedOmitted, o); err != nil {
		return err
	}
	if err := changedPods(w, "Waiting pods that no longer fit", "LACKS-THEN", f.Refused, f.RefusedOmitted, o); err != nil {
		return err
	}
	return findings(w, f.Findings, o)
}

func quotaForecastRole(verdict diagnosticsv1alpha1.QuotaForecastVerdict) Role {
	switch verdict {
	case diagnosticsv1alpha1.QuotaForecastRefused:
		return Bad
	case diagnosticsv1alpha1.QuotaForecastUnknown:
		return Warn
	}
	return Good
}

func changedQuotas(w io.Writer, f *diagnosticsv1alpha1.QuotaForecast, o Options) error {
	if len(f.Quotas) == 0 {
		return nil
	}
	if err := title(w, "Quotas", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "QUOTA", flexible: 12}, {header: "RESOURCE", flexible: 6}, {header: "BEFORE", right: true}, {header: "AFTER", right: true}, {header: "USED", right: true}, {header: "STATE", drop: 1},
	}}
	for i := range f.Quotas {
		q := &f.Quotas[i]
		state := text("<none>")
		if q.Used > q.RuntimeAfter {
			state = painted(Warn, "overused")
		}
		t.add(text(q.Quota), text(shortResource(q.Resource)), text(Quantity(q.RuntimeBefore, q.Unit)), text(Quantity(q.RuntimeAfter, q.Unit)), text(Quantity(q.Used, q.Unit)), state)
	}
	_, err := t.render(w, o)
	return err
}

func changedPods(w io.Writer, heading, column string, pods []diagnosticsv1alpha1.ChangedPod, omitted int32, o Options) error {
	if len(pods) == 0 {
		return nil
	}
	if err := title(w, heading, o); err != nil {
		return err
	}
	t := table{indent: 2, columns: changedPodColumns(column)}
	for i := range pods {
		t.add(text(pods[i].Namespace+"/"+pods[i].Name), text(pods[i].Quota), text(pods[i].Message))
	}
	if _, err := t.render(w, o); err != nil || omitted == 0 {
		return err
	}
	return more(w, phrase.Counted(int(omitted), "pod")+" more; --pods lists more", o)
}

func changedPodColumns(last string) []column {
	return []column{{header: "POD", flexible: 12}, {header: "QUOTA", flexible: 10}, {header: last, flexible: 20, drop: 1}}
}
