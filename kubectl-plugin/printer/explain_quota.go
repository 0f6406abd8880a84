package printer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/phrase"
)

// Quota prints where the runtime of an ElasticQuota comes from, resource by resource, who uses it and which pods do not fit.
func Quota(w io.Writer, q *diagnosticsv1alpha1.QuotaExplanation, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, quotaLine(q, o))
	role := quotaRole(q.State)
	summary := string(q.State)
	if q.Reason != "" {
		summary += ": " + q.Reason
	}
	wrapped(&b, o, 2, o.Style.Mark(role)+" "+o.Style.Paint(role, o.say(summary)))
	for _, note := range quotaNotes(q) {
		wrapped(&b, o, 2, o.Style.Paint(Warn, o.say(note)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if err := quotaResourcesOf(w, q, o); err != nil {
		return err
	}
	if err := quotaPods(w, q, o); err != nil {
		return err
	}
	if err := quotaRefusals(w, q, o); err != nil {
		return err
	}
	return findings(w, q.Findings, o)
}

func quotaLine(q *diagnosticsv1alpha1.QuotaExplanation, o Options) string {
	tree := "default tree"
	if q.Tree != "" {
		tree = "tree " + q.Tree
	}
	lending := "lends unused min"
	if !q.Lends {
		lending = "does not lend min"
	}
	parts := []string{o.Style.Paint(Strong, o.Style.Clean(q.Namespace+"/"+q.Name)), o.say("parent " + orNone(q.Parent)), o.say(tree), o.say(lending)}
	if len(q.Namespaces) > 0 {
		parts = append(parts, o.say("for pods of "+strings.Join(q.Namespaces, ", ")))
	}
	return strings.Join(parts, "; ")
}

// quotaNotes are what is wrong with the quota beside the reason of its state, which is the first problem, and the findings.
func quotaNotes(q *diagnosticsv1alpha1.QuotaExplanation) []string {
	notes := slices.Clone(q.Problems[min(len(q.Problems), 1):])
	found := slices.ContainsFunc(q.Findings, func(f diagnosticsv1alpha1.Finding) bool { return f.Message == q.Misplaced })
	if q.Misplaced != "" && !found {
		notes = append(notes, q.Misplaced)
	}
	return notes
}

// quotaResourcesOf are the divisions, those of the first two resources unless all are asked for; without any the published amounts.
func quotaResourcesOf(w io.Writer, q *diagnosticsv1alpha1.QuotaExplanation, o Options) error {
	if len(q.Divisions) == 0 {
		return quotaPublished(w, q, o)
	}
	shown := q.Divisions
	if !o.Wide {
		shown = shown[:min(len(shown), 2)]
	}
	for i := range shown {
		if err := quotaDivision(w, q, &shown[i], o); err != nil {
			return err
		}
	}
	if more := len(q.Divisions) - len(shown); more > 0 {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		return line(w, o, Dim, fmt.Sprintf("and %s; -o wide shows all", phrase.Counted(more, "more resource")))
	}
	return nil
}

// quotaPublished are the amounts that koord-scheduler published.
func quotaPublished(w io.Writer, q *diagnosticsv1alpha1.QuotaExplanation, o Options) error {
	if len(q.Resources) == 0 {
		return nil
	}
	if err := title(w, "Published by koord-scheduler", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "RESOURCE", flexible: 12}, {header: "MIN", right: true}, {header: "MAX", right: true}, {header: "RUNTIME", right: true},
		{header: "USED", right: true}, {header: "REQUEST", right: true},
	}}
	for _, r := range q.Resources {
		name := corev1.ResourceName(r.Resource)
		cells := []cell{text(amount.ShortName(name))}
		for _, v := range []*int64{r.Min, r.Max, r.Runtime, r.Used, r.Request} {
			cells = append(cells, limitOf(v, name, o))
		}
		t.add(cells...)
	}
	_, err := t.render(w, o)
	return err
}

// quotaPods are the largest pods that use the quota.
func quotaPods(w io.Writer, q *diagnosticsv1alpha1.QuotaExplanation, o Options) error {
	if len(q.Pods) == 0 {
		return nil
	}
	if err := title(w, "Pods that use it, the largest first", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "POD", flexible: 20}, {header: "QUOTA", flexible: 10, drop: 2}, {header: "NODE", flexible: 10, drop: 1}}}
	var resources []string
	for _, r := range q.Resources[:min(len(q.Resources), shownOf(o))] {
		resources = append(resources, r.Resource)
		t.columns = append(t.columns, column{header: resourceTitle(corev1.ResourceName(r.Resource)), right: true})
	}
	t.columns = append(t.columns, column{header: "PREEMPTIBLE", drop: 3})
	for i := range q.Pods {
		t.add(quotaPodCells(&q.Pods[i], q.Name, resources)...)
	}
	if _, err := t.render(w, o); err != nil || q.PodsOmitted == 0 {
		return err
	}
	return line(w, o, Dim, fmt.Sprintf("and %s; --pods lists more", phrase.Counted(int(q.PodsOmitted), "more pod")))
}

// shownOf bounds the resources that are shown.
func shownOf(o Options) int {
	if o.Wide {
		return 1 << 10
	}
	return 2
}

func quotaPodCells(p *diagnosticsv1alpha1.QuotaPod, quota string, resources []string) []cell {
	if p.Quota != "" {
		quota = p.Quota
	}
	cells := []cell{text(p.Namespace + "/" + p.Name), painted(Dim, quota), text(orNone(p.NodeName))}
	for _, resource := range resources {
		at := slices.IndexFunc(p.Requests, func(r diagnosticsv1alpha1.ForecastAmount) bool { return r.Resource == resource })
		if at < 0 {
			cells = append(cells, painted(Dim, "-"))
			continue
		}
		cells = append(cells, text(Quantity(p.Requests[at].Amount, p.Requests[at].Unit)))
	}
	return append(cells, text(map[bool]string{true: "no", false: "yes"}[p.NonPreemptible]))
}

// quotaRefusals are the pods that do not fit, each with why.
func quotaRefusals(w io.Writer, q *diagnosticsv1alpha1.QuotaExplanation, o Options) error {
	if len(q.Refused) == 0 {
		return nil
	}
	if err := title(w, "Pods that do not fit, the largest first", o); err != nil {
		return err
	}
	var b strings.Builder
	for i := range q.Refused {
		r := &q.Refused[i]
		wrapped(&b, o, 2, o.Style.Mark(Bad)+" "+o.Style.Paint(Strong, o.Style.Clean(r.Namespace+"/"+r.Name))+" "+o.Style.Clean(r.Code)+": "+o.say(r.Message))
	}
	if q.RefusedOmitted > 0 {
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(fmt.Sprintf("and %s; --pods lists more", phrase.Counted(int(q.RefusedOmitted), "more pod")))))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
