package printer

import (
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/config/configplan"
	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/core/phrase"
)

// ConfigPlanView is a plan with what was noticed about the new configuration.
type ConfigPlanView struct {
	// Subject is the object that would change.
	Subject string
	// Plan of the change.
	Plan *configplan.Plan
	// Findings about the new configuration.
	Findings []configuration.Finding
}

// shownRows bounds the nodes, pods and groups that a plan lists when it is not asked for wide.
const shownRows = 10

// ConfigPlan prints what a change would do: the settings, the nodes by strategy and by what changes on them, the offers, the
// pods at risk, the quotas, how far it reaches, and what is wrong with the new configuration.
func ConfigPlan(w io.Writer, v ConfigPlanView, o Options) error {
	if err := planHead(w, v, o); err != nil || v.Plan.Empty() {
		if err != nil {
			return err
		}
		return planFindings(w, v, o)
	}
	parts := []struct {
		title string
		skip  bool
		print func(io.Writer) error
	}{
		{"Settings", len(v.Plan.Settings) == 0, func(w io.Writer) error { return settingChanges(w, v.Plan.Settings, 2, o) }},
		{"Nodes by strategy", len(v.Plan.Strategies) == 0, func(w io.Writer) error { return planStrategies(w, v.Plan, o) }},
		{"Rendered for nodes", len(v.Plan.Groups) == 0, func(w io.Writer) error { return planGroups(w, v.Plan, o) }},
		{"Offers", len(v.Plan.Summary.Offers)+len(v.Plan.Summary.OffersUnknown) == 0, func(w io.Writer) error { return planOffers(w, v.Plan, o) }},
		{"Nodes by change of offer", len(v.Plan.Histogram) == 0, func(w io.Writer) error { return planHistogram(w, v.Plan, o) }},
		{"Ratios", !anyRatios(v.Plan), func(w io.Writer) error { return planRatios(w, v.Plan, o) }},
		{"Nodes", !anyOffers(v.Plan), func(w io.Writer) error { return planNodes(w, v.Plan, o) }},
		{"Pods affected immediately", len(v.Plan.Pods) == 0, func(w io.Writer) error { return planPods(w, v.Plan, o) }},
		{"Quotas", len(v.Plan.Quotas) == 0, func(w io.Writer) error { return planQuotas(w, v.Plan, o) }},
	}
	for _, part := range parts {
		if part.skip {
			continue
		}
		if _, err := io.WriteString(w, "\n"+o.Style.Paint(Header, o.say(part.title))+"\n"); err != nil {
			return err
		}
		if err := part.print(w); err != nil {
			return err
		}
	}
	return planFindings(w, v, o)
}

func planHead(w io.Writer, v ConfigPlanView, o Options) error {
	s := &v.Plan.Summary
	var b strings.Builder
	if v.Plan.Empty() {
		wrapped(&b, o, 0, o.Style.Paint(Strong, o.say(fmt.Sprintf("%s: no change on %s", v.Subject, phrase.Counted(s.Nodes, "node")))))
	} else {
		reach := []string{fmt.Sprintf("%d of %s affected", s.NodesAffected, phrase.Counted(s.Nodes, "node"))}
		for _, part := range []struct {
			n          *int
			noun, text string
		}{{&s.NodeSLOs, "NodeSLO", "written"}, {&s.NodeMetrics, "NodeMetric", "written"}, {s.PodsSuppressed, "pod", "suppressed immediately"},
			{s.PodsEvicted, "pod", "evicted immediately"}, {s.NodesOvercommitted, "node", "offering less than requested"}, {s.Quotas, "quota", "with a different share"}} {
			switch {
			case part.n == nil:
				reach = append(reach, unknown+" "+part.noun+"s "+part.text)
			case *part.n > 0:
				reach = append(reach, phrase.Counted(*part.n, part.noun)+" "+part.text)
			}
		}
		wrapped(&b, o, 0, o.Style.Paint(Strong, o.Style.Clean(v.Subject)+": "+o.say(strings.Join(reach, ", "))))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// more says what a table leaves out.
func more(w io.Writer, text string, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 2, o.say(text))
	_, err := io.WriteString(w, b.String())
	return err
}

// nodeNames names all nodes when asked for wide, else the first of them.
func nodeNames(names []string, o Options) string {
	if o.Wide {
		return strings.Join(names, ", ")
	}
	return configplan.Examples(names)
}

func planStrategies(w io.Writer, p *configplan.Plan, o Options) error {
	names := "SUCH-AS"
	if o.Wide {
		names = "NODES"
	}
	t := table{indent: 2, columns: []column{{header: "STRATEGY", flexible: 30}, {header: "BEFORE", right: true}, {header: "AFTER", right: true},
		{header: "SHADOWED", right: true, drop: 1}, {header: names, drop: 2, flexible: 20}}}
	number := func(n *int) string {
		if n == nil {
			return none
		}
		return fmt.Sprint(*n)
	}
	for _, s := range p.Strategies {
		t.add(text(s.Key+" "+s.Layer), text(number(s.Before)), text(number(s.After)), text(fmt.Sprint(s.Shadowed)), text(nodeNames(s.Names, o)))
	}
	_, err := t.render(w, o)
	return err
}

func planGroups(w io.Writer, p *configplan.Plan, o Options) error {
	for i, g := range p.Groups {
		if i == shownRows && !o.Wide {
			return more(w, phrase.Counted(len(p.Groups)-i, "group")+" more; -o wide lists all", o)
		}
		var b strings.Builder
		wrapped(&b, o, 2, o.say(fmt.Sprintf("%s (%s), writing %s", phrase.Counted(g.Nodes, "node"), nodeNames(g.Names, o), strings.Join(g.Writes, ", "))))
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
		headless := o
		headless.NoHeaders = true
		if err := settingChanges(w, g.Changes, 4, headless); err != nil {
			return err
		}
	}
	return nil
}

func shortName(name corev1.ResourceName) string { return shortResource(string(name)) }

func planOffers(w io.Writer, p *configplan.Plan, o Options) error {
	t := table{indent: 2, columns: []column{{header: "RESOURCE"}, {header: "OLD", right: true, says: true}, {header: "NEW", right: true, says: true}, {header: "CHANGE", right: true, says: true}}}
	for _, c := range p.Summary.Offers {
		t.add(text(shortName(c.Resource)), text(offerText(c.Old, c)), painted(Strong, offerText(c.New, c)), shareCell(c))
	}
	for _, name := range p.Summary.OffersUnknown {
		t.add(text(shortName(name)), text(unknown), text(unknown), painted(Dim, unknown))
	}
	_, err := t.render(w, o)
	return err
}

func offerText(value *int64, c configplan.OfferChange) string {
	if value == nil {
		return none
	}
	return Quantity(*value, c.Unit)
}

// shareCell is the change in percent of what was offered.
func shareCell(c configplan.OfferChange) cell {
	switch {
	case c.New == nil:
		return painted(Bad, "withdrawn")
	case c.Old == nil || *c.Old == 0:
		return painted(Good, "new")
	}
	share := (float64(*c.New) - float64(*c.Old)) / float64(*c.Old) * 100
	role := Good
	if share < 0 {
		role = Warn
	}
	return painted(role, fmt.Sprintf("%+.1f%%", share))
}

func planHistogram(w io.Writer, p *configplan.Plan, o Options) error {
	most := 1
	for _, b := range p.Histogram {
		most = max(most, b.Nodes)
	}
	const width = 30
	t := table{indent: 2, columns: []column{{header: "RESOURCE"}, {header: "CHANGE", says: true}, {header: "NODES", right: true}, {header: "", drop: 1}}}
	for _, b := range p.Histogram {
		role := Good
		if strings.HasPrefix(b.Label, "-") || b.Label == "withdrawn" {
			role = Bad
		}
		if b.Label == "unchanged" || b.Label == "not known" {
			role = Idle
		}
		t.add(text(shortName(b.Resource)), text(b.Label), text(fmt.Sprint(b.Nodes)), styled(o.Style.Bar(role, max(b.Nodes*width/most, 1))))
	}
	_, err := t.render(w, o)
	return err
}

func anyOffers(p *configplan.Plan) bool {
	for i := range p.Nodes {
		if len(p.Nodes[i].Offers) > 0 {
			return true
		}
	}
	return false
}
