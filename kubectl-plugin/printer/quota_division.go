package printer

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/scheduling/quotaview"
)

// mostShares bounds the siblings that a division lists, and mostGains the gains of a round.
const (
	mostShares = 10
	mostGains  = 6
)

// quotaDivision prints where the runtime of one resource comes from.
func quotaDivision(w io.Writer, q *diagnosticsv1alpha1.QuotaExplanation, d *diagnosticsv1alpha1.QuotaDivision, o Options) error {
	p := division{QuotaDivision: d, quota: q.Name, o: o}
	heading := amount.ShortName(corev1.ResourceName(d.Resource)) + ": runtime " + p.amount(d.Runtime)
	if d.Max != nil {
		heading += ", max " + p.amount(*d.Max)
	}
	if published := quotaview.AmountsIn(&q.QuotaFacts, corev1.ResourceName(d.Resource)).Runtime; published != nil && *published != d.Runtime {
		heading += "; published " + p.amount(*published)
	}
	if err := title(w, heading, o); err != nil {
		return err
	}
	var b strings.Builder
	for _, text := range slices.Concat(p.origin(), p.use()) {
		wrapped(&b, o, 2, o.say(text))
	}
	wrapped(&b, o, 2, o.say(p.division()))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if err := p.shares(w); err != nil {
		return err
	}
	b.Reset()
	for _, text := range slices.Concat(p.rounds(), p.back()) {
		wrapped(&b, o, 2, o.say(text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// division is a QuotaDivision that is printed.
type division struct {
	*diagnosticsv1alpha1.QuotaDivision
	quota string
	o     Options
}

func (p *division) amount(v int64) string {
	return quotaAmount(&v, corev1.ResourceName(p.Resource), p.o)
}

// division says what is divided among whom.
func (p *division) division() string {
	if p.Parent == extension.RootQuotaName {
		return "how " + p.amount(p.Total) + " of the tree are divided among the quotas at its top:"
	}
	return "how the runtime " + p.amount(p.Total) + " of quota " + p.Parent + " is divided among its children:"
}

// own is the share of the quota itself; empty where the answer lacks it.
func (p *division) own() diagnosticsv1alpha1.QuotaShare {
	at := slices.IndexFunc(p.Shares, func(s diagnosticsv1alpha1.QuotaShare) bool { return s.Quota == p.quota })
	if at < 0 {
		return diagnosticsv1alpha1.QuotaShare{}
	}
	return p.Shares[at]
}

// origin says how the runtime adds up, and from whom it comes.
func (p *division) origin() []string {
	own := p.own()
	sum := "guaranteed " + p.amount(own.Guaranteed)
	if own.Capped {
		sum += " of min " + p.amount(own.Min) + ", because the mins add up to more than there is"
	}
	if own.Lent > 0 {
		sum += " - lent " + p.amount(own.Lent)
	}
	if own.Borrowed > 0 {
		sum += " + borrowed " + p.amount(own.Borrowed)
	}
	lines := []string{fmt.Sprintf("%s = runtime %s; requested %s, weight %s", sum, p.amount(own.Runtime), p.amount(own.Request), p.amount(own.Weight))}
	for _, loan := range p.Loans {
		switch {
		case loan.From == p.quota:
			lines = append(lines, "lends "+p.amount(loan.Amount)+" to "+loan.To)
		case loan.From == "":
			lines = append(lines, "gets "+p.amount(loan.Amount)+" of what no min covers")
		default:
			lines = append(lines, "borrows "+p.amount(loan.Amount)+" from "+loan.From)
		}
	}
	return lines
}

// use says what is used, what may still be, and how much the quotas above have.
func (p *division) use() []string {
	room := "no other pod may request any"
	switch {
	case p.AvailableBound == "":
		room = "nothing limits what another pod may request"
	case p.Available > 0:
		room = "another pod may request up to " + p.amount(p.Available)
	}
	if p.AvailableBound != "" && p.AvailableBound != p.quota {
		room += ", bounded by quota " + p.AvailableBound
	}
	lines := []string{"used " + p.amount(p.Used) + "; " + room}
	if len(p.Path) > 1 {
		var levels []string
		for _, level := range p.Path {
			levels = append(levels, level.Quota+" "+p.amount(level.Runtime))
		}
		lines = append(lines, "above: "+strings.Join(levels, " "+p.o.Style.Arrow()+" "))
	}
	return lines
}

// ordered are the shares: this quota's first, then the largest.
func (p *division) ordered() []diagnosticsv1alpha1.QuotaShare {
	shares := slices.Clone(p.Shares)
	rank := func(s diagnosticsv1alpha1.QuotaShare) int {
		if s.Quota == p.quota {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(shares, func(a, b diagnosticsv1alpha1.QuotaShare) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(b.Runtime, a.Runtime), cmp.Compare(a.Quota, b.Quota))
	})
	return shares
}

// shares lists this quota and its largest siblings.
func (p *division) shares(w io.Writer) error {
	shares := p.ordered()
	t := table{indent: 2, columns: []column{
		{header: "QUOTA", flexible: 14}, {header: "MIN", right: true, drop: 2}, {header: "GUARANTEED", right: true, drop: 1}, {header: "LENT", right: true},
		{header: "BORROWED", right: true}, {header: "REQUEST", right: true}, {header: "WEIGHT", right: true, drop: 3}, {header: "RUNTIME", right: true},
	}}
	listed := len(shares)
	if !p.o.Wide {
		listed = min(listed, mostShares)
	}
	for _, s := range shares[:listed] {
		role := Plain
		if s.Quota == p.quota {
			role = Strong
		}
		cells := []cell{painted(role, s.Quota)}
		for _, v := range []int64{s.Min, s.Guaranteed, s.Lent, s.Borrowed, s.Request, s.Weight, s.Runtime} {
			cells = append(cells, painted(role, p.amount(v)))
		}
		t.add(cells...)
	}
	if _, err := t.render(w, p.o); err != nil || listed == len(shares) {
		return err
	}
	return line(w, p.o, Dim, fmt.Sprintf("and %s; -o wide lists all", phrase.Counted(len(shares)-listed, "more quota")))
}

// rounds say how the left-over was divided by weight.
func (p *division) rounds() []string {
	var lines []string
	for number, round := range p.Rounds {
		gains := slices.Clone(round.Gains)
		slices.SortStableFunc(gains, func(a, b diagnosticsv1alpha1.QuotaGain) int { return cmp.Compare(b.Got, a.Got) })
		var parts []string
		for i, gain := range gains {
			if i == mostGains && !p.o.Wide {
				parts = append(parts, fmt.Sprintf("%d more", len(gains)-i))
				break
			}
			part := gain.Quota + " +" + p.amount(gain.Got)
			if gain.Returned > 0 {
				part += " (returns " + p.amount(gain.Returned) + ")"
			}
			parts = append(parts, part)
		}
		lines = append(lines, fmt.Sprintf("round %d divides %s by weight: %s", number+1, p.amount(round.LeftOver), strings.Join(parts, ", ")))
	}
	if p.Unshared > 0 {
		lines = append(lines, "not requested by any of them: "+p.amount(p.Unshared))
	}
	return lines
}

// back says what keeps lent min from being used at once.
func (p *division) back() []string {
	if p.Return == nil {
		return nil
	}
	lines := []string{"these quotas use more than their runtime, and nodes may have no room until they shrink:"}
	if p.Return.Amount > 0 {
		lines[0] = "if all of min were requested, the runtime would grow by " + p.amount(p.Return.Amount) +
			", and these quotas would use more than theirs; nodes may have no room until they shrink:"
	}
	for _, h := range p.Return.Holders {
		text := fmt.Sprintf("%s %s uses %s of %s, %s too much", p.o.Style.Bullet(), h.Quota, p.amount(h.Used), p.amount(h.Runtime), p.amount(h.Excess))
		if h.NonPreemptible > 0 {
			text += "; " + p.amount(h.NonPreemptible) + " are not preemptible"
		}
		lines = append(lines, text)
	}
	if p.Return.Revokes {
		return append(lines, "koord-scheduler evicts pods of such quotas after "+seconds(p.Return.AfterSeconds)+" (monitorAllQuotas)")
	}
	return append(lines, "koord-scheduler does not evict pods of such quotas (monitorAllQuotas is off): they shrink when their pods end")
}
