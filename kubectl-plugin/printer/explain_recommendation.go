package printer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/phrase"
)

// Recommendation prints what a Recommendation recommends, how that came about, and what applying it does.
func Recommendation(w io.Writer, r *diagnosticsv1alpha1.RecommendationExplanation, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, recommendationLine(r, o))
	for _, note := range r.Notes {
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(note)))
	}
	if len(r.Containers) == 0 {
		wrapped(&b, o, 2, o.Style.Paint(Warn, o.say("no recommendation yet")))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	for i := range r.Containers {
		if err := recommendedContainer(w, &r.Containers[i], o); err != nil {
			return err
		}
	}
	return recommendationApplication(w, &r.Application, o)
}

func recommendationLine(r *diagnosticsv1alpha1.RecommendationExplanation, o Options) string {
	parts := []string{o.Style.Paint(Strong, o.Style.Clean(r.Namespace+"/"+r.Name)), o.say("for " + r.Target)}
	if r.Pods != nil {
		parts = append(parts, phrase.Counted(int(*r.Pods), "pod"))
	}
	if r.UpdatedAt == nil {
		parts = append(parts, o.Style.Paint(Warn, o.say("not processed by the recommender yet")))
	} else {
		parts = append(parts, "recommended "+Ago(o.Now, r.UpdatedAt))
	}
	return strings.Join(parts, "; ")
}

// recommendedContainer is a table of the figures, and below it how each target came about.
func recommendedContainer(w io.Writer, c *diagnosticsv1alpha1.ContainerRecommendation, o Options) error {
	heading := "Container " + c.Name
	if c.Tier != "plain" {
		heading += " (" + c.Tier + " resources)"
	}
	if err := title(w, heading, o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "RESOURCE"}, {header: "REQUESTED", right: true}, {header: "LOWER", right: true}, {header: "TARGET", right: true},
		{header: "UPPER", right: true}, {header: "SAVES", right: true},
	}}
	resources := []struct {
		name string
		unit diagnosticsv1alpha1.Unit
		is   *diagnosticsv1alpha1.ResourceRecommendation
	}{{"cpu", diagnosticsv1alpha1.MilliCPU, &c.CPU}, {"memory", diagnosticsv1alpha1.Bytes, &c.Memory}}
	for _, r := range resources {
		t.add(text(r.name), requestCell(r.is, r.unit), amountCell(r.is.Lower, r.unit), amountCell(r.is.Target, r.unit), amountCell(r.is.Upper, r.unit), savingsCell(r.is.Savings, r.unit))
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	for _, r := range resources {
		if len(r.is.Terms) == 0 {
			continue
		}
		if err := line(w, o, Dim, r.name+": "+derivation(r.is.Terms)); err != nil {
			return err
		}
	}
	if observed := observation(c, o); observed != "" {
		return line(w, o, Dim, observed)
	}
	return nil
}

// derivation says how a target came about.
func derivation(terms []diagnosticsv1alpha1.Term) string {
	parts := make([]string, 0, len(terms))
	for _, term := range terms {
		amount := QuantityWithUnit(term.Value, term.Unit)
		switch term.Operator {
		case diagnosticsv1alpha1.Times:
			parts = append(parts, "times "+amount)
		case diagnosticsv1alpha1.Max:
			parts = append(parts, "at least "+amount+", "+term.Note)
		default:
			parts = append(parts, amount+", "+term.Note)
		}
	}
	return strings.Join(parts, "; ")
}

// enoughRuns of a job are as good as a day of usage, as ContainerRecommendation.Runs says.
const enoughRuns = 10

// observation says how long, and until when, the container was observed.
func observation(c *diagnosticsv1alpha1.ContainerRecommendation, o Options) string {
	var parts []string
	if c.Runs != nil {
		enough := "enough to apply"
		if *c.Runs < enoughRuns {
			enough = "10 are needed to apply"
		}
		parts = append(parts, fmt.Sprintf("recommended by %s (%s)", phrase.Counted(int(*c.Runs), "run"), enough))
	} else if c.ConfidenceSeconds != nil {
		enough := "enough to apply"
		if *c.ConfidenceSeconds < 24*60*60 {
			enough = "a day is needed to apply"
		}
		parts = append(parts, "observed for "+Quantity(*c.ConfidenceSeconds, diagnosticsv1alpha1.Seconds)+" ("+enough+")")
	}
	if c.FirstSampleAt != nil {
		parts = append(parts, "samples from "+Age(o.Now, c.FirstSampleAt)+" to "+Ago(o.Now, c.LastSampleAt)+", those a day old counting half")
	}
	if c.LastOOMAt != nil {
		parts = append(parts, "ran out of memory "+Ago(o.Now, c.LastOOMAt))
	}
	return strings.Join(parts, "; ")
}

func recommendationApplication(w io.Writer, a *diagnosticsv1alpha1.RecommendationApplication, o Options) error {
	if err := title(w, "Applying it to running pods", o); err != nil {
		return err
	}
	role := applicationRole(a.State)
	var b strings.Builder
	wrapped(&b, o, 2, o.Style.Mark(role)+" "+o.Style.Paint(role, o.say(a.Message)))
	if a.Budget > 0 {
		budget := fmt.Sprintf("budget: %d of %s used in %s; a pod is not resized again for %s", a.BudgetUsed, phrase.Counted(int(a.Budget), "pod"),
			seconds(a.BudgetSeconds), seconds(a.CoolDownSeconds))
		if a.LastAppliedAt != nil {
			budget += "; the last one was " + Ago(o.Now, a.LastAppliedAt)
		}
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(budget)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return applicationPods(w, a, o)
}

// applicationPods lists the pods that applying concerns, as many as are asked for.
func applicationPods(w io.Writer, a *diagnosticsv1alpha1.RecommendationApplication, o Options) error {
	most := o.Parts
	if o.Wide {
		most = len(a.Pods)
	}
	if min(most, len(a.Pods)) == 0 {
		return nil
	}
	t := table{indent: 2, columns: []column{{header: "POD", flexible: 16}, {header: "CHANGE", flexible: 20}, {header: "WHY-NOT", flexible: 16, says: true}}}
	for i := range a.Pods[:min(most, len(a.Pods))] {
		pod := &a.Pods[i]
		t.add(text(pod.Name), text(changes(pod.Containers)), painted(Warn, whyNot(pod, o)))
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	if more := len(a.Pods) - most; more > 0 {
		return line(w, o, Dim, fmt.Sprintf("and %s; -o wide lists all", phrase.Counted(more, "more pod")))
	}
	return nil
}

func whyNot(pod *diagnosticsv1alpha1.PodResize, o Options) string {
	if pod.Until == nil {
		return pod.Reason
	}
	return pod.Reason + ", for another " + seconds(max(freshness.Seconds(pod.Until.Time, o.Now), 0))
}

// changes of a pod's containers: main requests cpu 1.19.
func changes(containers []diagnosticsv1alpha1.ContainerResize) string {
	var parts []string
	for i := range containers {
		c := &containers[i]
		words := []string{c.Name}
		if list := resourceWords(c.Requests); list != "" {
			words = append(words, "requests "+list)
		}
		if list := resourceWords(c.Limits); list != "" {
			words = append(words, "limits "+list)
		}
		parts = append(parts, strings.Join(words, " "))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func resourceWords(list corev1.ResourceList) string {
	var parts []string
	for name, quantity := range list {
		if name == corev1.ResourceCPU {
			parts = append(parts, "cpu "+Cores(quantity.MilliValue()))
			continue
		}
		parts = append(parts, string(name)+" "+Bytes(quantity.Value()))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}
