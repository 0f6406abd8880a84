package printer

import (
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/quotaview"
)

// admissionQuota prints which quota the pod counts against, by what, and whether it fits.
func admissionQuota(w io.Writer, e *diagnosticsv1alpha1.AdmissionExplanation, o Options) error {
	q := e.Quota
	if q == nil {
		return nil
	}
	if err := title(w, "Quota", o); err != nil {
		return err
	}
	name := q.Name
	if q.Namespace != "" {
		name = q.Namespace + "/" + name
	}
	because := quotaview.Because(&corev1.Pod{ObjectMeta: e.ObjectMeta}, q)
	if q.Tree != "" {
		because += "; tree " + q.Tree
	}
	var b strings.Builder
	wrapped(&b, o, 2, o.Style.Paint(Strong, o.Style.Clean(name))+": "+o.say(because))
	role, text := quotaFit(q.Fit)
	wrapped(&b, o, 2, o.Style.Mark(role)+" "+o.Style.Paint(role, o.say(text)))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return quotaAmounts(w, q, o)
}

func quotaFit(fit diagnosticsv1alpha1.QuotaFit) (Role, string) {
	switch fit {
	case diagnosticsv1alpha1.QuotaFits:
		return Good, "the pod fits now"
	case diagnosticsv1alpha1.QuotaExceeded:
		return Warn, "the pod would wait"
	case diagnosticsv1alpha1.QuotaNotLimited:
		return Plain, "the pod counts and is not limited: koord-scheduler does not place it"
	}
	return Warn, "whether the pod fits is unknown"
}

func quotaAmounts(w io.Writer, q *diagnosticsv1alpha1.AdmissionQuota, o Options) error {
	if len(q.Amounts) == 0 {
		return nil
	}
	t := table{indent: 2, columns: []column{{header: "RESOURCE", flexible: 12}, {header: "REQUEST", right: true}, {header: "AVAILABLE", right: true}, {header: "LIMITED-BY", flexible: 12}}}
	for i := range q.Amounts {
		a := &q.Amounts[i]
		resource := corev1.ResourceName(a.Resource)
		role := Plain
		if a.Available < a.Request {
			role = Warn
		}
		t.add(text(amount.ShortName(resource)), text(quotaAmount(&a.Request, resource, o)), painted(role, quotaAmount(&a.Available, resource, o)), text(orNone(a.Bound)))
	}
	_, err := t.render(w, o)
	return err
}

// admissionDryRun prints the API server's answer, and where it differs.
func admissionDryRun(w io.Writer, e *diagnosticsv1alpha1.AdmissionExplanation, o Options) error {
	run := e.DryRun
	if run == nil {
		return nil
	}
	if err := title(w, "Dry run", o); err != nil {
		return err
	}
	role, said := dryRunVerdict(run)
	if err := markedLine(w, o, role, said); err != nil {
		return err
	}
	return changeLines(w, run.Differences, o)
}

func markedLine(w io.Writer, o Options, role Role, text string) error {
	var b strings.Builder
	wrapped(&b, o, 2, o.Style.Mark(role)+" "+o.Style.Paint(role, o.say(text)))
	_, err := io.WriteString(w, b.String())
	return err
}

func dryRunVerdict(run *diagnosticsv1alpha1.AdmissionDryRun) (Role, string) {
	text := string(run.Verdict) + " by the API server"
	switch run.Verdict {
	case diagnosticsv1alpha1.DryRunForbidden:
		text = "you do not have permission to create the pod"
	case diagnosticsv1alpha1.DryRunUnknown:
		text = "the dry run could not be made"
	}
	if run.Message != "" {
		text += ": " + run.Message
	}
	switch {
	case run.Agrees == nil && len(run.Differences) == 0:
		return Warn, text
	case run.Agrees != nil && *run.Agrees:
		return Good, text + "; the same as above"
	}
	return Bad, text + "; not the same as above"
}
