package printer

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"koordinator.sh/koord/decision/config/configplan"
	"koordinator.sh/koord/decision/core/phrase"
)

// planNodes lists nodes whose offers change, those that lose most first unless all are asked for.
func planNodes(w io.Writer, p *configplan.Plan, o Options) error {
	t := table{indent: 2, columns: []column{{header: "NODE", flexible: 16}, {header: "RESOURCE"}, {header: "OLD", right: true}, {header: "NEW", right: true},
		{header: "CHANGE", right: true, says: true}, {header: "REQUESTED", right: true, drop: 1}, {header: "PUBLISHED", right: true, drop: 2}, {header: "NOTE", wide: true, says: true}}}
	rows := changedOffers(p)
	omitted := 0
	for i, row := range rows {
		if i >= shownRows && !o.Wide {
			omitted = len(rows) - i
			break
		}
		c := row.change
		requested := text("-")
		if c.Requested != nil {
			requested = text(Quantity(*c.Requested, c.Unit))
			if *c.Requested > deref(c.New) {
				requested.role = Bad
			}
		}
		t.add(text(row.node), text(shortName(c.Resource)), text(offerText(c.Old, c)), painted(Strong, offerText(c.New, c)), shareCell(c),
			requested, text(offerText(c.Published, c)), text(c.Reason))
	}
	if _, err := t.render(w, o); err != nil || omitted == 0 {
		return err
	}
	return more(w, phrase.Counted(omitted, "more change")+" with smaller losses; -o wide lists all", o)
}

func anyRatios(p *configplan.Plan) bool {
	return slices.ContainsFunc(p.Nodes, func(n configplan.NodeChange) bool { return len(n.Ratios) > 0 })
}

// planRatios lists nodes whose cpu normalization or amplification changes.
func planRatios(w io.Writer, p *configplan.Plan, o Options) error {
	t := table{indent: 2, columns: []column{{header: "NODE", flexible: 16}, {header: "RATIO"}, {header: "OLD"}, {header: "NEW"}, {header: "BECAUSE", drop: 1, flexible: 24, says: true}}}
	omitted := 0
	for i := range p.Nodes {
		for _, ratio := range p.Nodes[i].Ratios {
			if len(t.rows) >= shownRows && !o.Wide {
				omitted++
				continue
			}
			name := ratio.Annotation[strings.LastIndexByte(ratio.Annotation, '/')+1:]
			t.add(text(p.Nodes[i].Name), text(name), text(cmp.Or(ratio.Old, none)), painted(Strong, cmp.Or(ratio.New, none)), text(ratio.Reason))
		}
	}
	if _, err := t.render(w, o); err != nil || omitted == 0 {
		return err
	}
	return more(w, phrase.Counted(omitted, "ratio")+" more; -o wide lists all", o)
}

type offerRow struct {
	node   string
	change configplan.OfferChange
}

func changedOffers(p *configplan.Plan) []offerRow {
	var rows []offerRow
	for i := range p.Nodes {
		for _, change := range p.Nodes[i].Offers {
			rows = append(rows, offerRow{p.Nodes[i].Name, change})
		}
	}
	loss := func(r offerRow) float64 {
		switch {
		case r.change.New == nil:
			return -2
		case r.change.Old == nil || *r.change.Old == 0:
			return 2
		}
		return float64(*r.change.New)/float64(*r.change.Old) - 1
	}
	slices.SortStableFunc(rows, func(a, b offerRow) int {
		switch x, y := loss(a), loss(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return rows
}

func planPods(w io.Writer, p *configplan.Plan, o Options) error {
	t := table{indent: 2, columns: []column{{header: "EFFECT", says: true}, {header: "POD", flexible: 24}, {header: "NODE", drop: 1, flexible: 12}, {header: "BY", drop: 2}, {header: "BECAUSE", flexible: 24, says: true}}}
	pods := slices.Clone(p.Pods)
	slices.SortStableFunc(pods, func(a, b configplan.PodEffect) int {
		if a.Effect == b.Effect {
			return 0
		}
		if a.Effect == configplan.Evicted {
			return -1
		}
		return 1
	})
	omitted := 0
	for i, pod := range pods {
		if i >= shownRows && !o.Wide {
			omitted = len(pods) - i
			break
		}
		role := Warn
		if pod.Effect == configplan.Evicted {
			role = Bad
		}
		t.add(painted(role, pod.Effect), text(pod.Namespace+"/"+pod.Name), text(pod.Node), text(pod.Feature), text(pod.Reason))
	}
	if _, err := t.render(w, o); err != nil || omitted == 0 {
		return err
	}
	return more(w, phrase.Counted(omitted, "pod")+" more; -o wide lists all", o)
}

func planQuotas(w io.Writer, p *configplan.Plan, o Options) error {
	t := table{indent: 2, columns: []column{{header: "QUOTA", flexible: 16}, {header: "RESOURCE"}, {header: "OLD-SHARE", right: true}, {header: "NEW-SHARE", right: true}, {header: "USED", right: true}}}
	for _, q := range p.Quotas {
		for _, share := range q.Shares {
			unit := configplan.UnitOf(share.Resource)
			used := text(Quantity(share.Used, unit))
			if share.Overused {
				used.role = Bad
			}
			t.add(text(q.Namespace+"/"+q.Name), text(shortName(share.Resource)), text(Quantity(share.Old, unit)), painted(Strong, Quantity(share.New, unit)), used)
		}
	}
	_, err := t.render(w, o)
	return err
}

func planFindings(w io.Writer, v ConfigPlanView, o Options) error {
	if len(v.Findings) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return ConfigFindings(w, "the new configuration", v.Findings, o)
}
