package printer

import (
	"cmp"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// QuotaTree prints ElasticQuotas, each parent before its children, as trees: the rows of QuotaOverviews with the names below their parents,
// and a line for each quota that is not where its object says.
func QuotaTree(w io.Writer, list *diagnosticsv1alpha1.QuotaOverviewList, o Options) error {
	resources := quotaResources(list.Items, o.Wide)
	t := table{columns: append([]column{{header: "NAME", flexible: 20}, {header: "NAMESPACE", wide: true}, {header: "TREE", wide: true}}, quotaColumns(resources)...)}
	for i, lead := range leads(list.Items, o.Style) {
		q := &list.Items[i]
		name := o.Style.Paint(Dim, lead) + o.Style.Clean(q.Name)
		if q.Misplaced != "" {
			name += o.Style.Paint(Warn, " "+misplacedMark)
		}
		t.add(append([]cell{styled(name), text(q.Namespace), text(orNone(q.Tree))}, quotaCells(&q.QuotaFacts, resources, o)...)...)
	}
	hidden, err := t.render(w, o)
	if err != nil {
		return err
	}
	if err := hiddenNote(w, hidden, o); err != nil {
		return err
	}
	return misplacedNotes(w, list.Items, o)
}

// misplacedMark is beside the name of a quota that is not where its object says.
const misplacedMark = "*"

// misplacedNotes say why quotas are not where their objects say.
func misplacedNotes(w io.Writer, items []diagnosticsv1alpha1.QuotaOverview, o Options) error {
	var b strings.Builder
	for i := range items {
		if q := &items[i]; q.Misplaced != "" {
			wrapped(&b, o, 0, o.Style.Paint(Warn, misplacedMark)+" "+o.Style.Clean(q.Namespace+"/"+q.Name)+": "+o.say(q.Misplaced))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// leads are what stands before the names: nothing for a quota at the top, else a branch below the lines of those above.
func leads(items []diagnosticsv1alpha1.QuotaOverview, s Style) []string {
	out := make([]string, len(items))
	var lasts []bool // of the quota on each level whether it is the last child there
	for i := range items {
		depth := max(0, int(items[i].Depth))
		lasts = append(lasts[:min(depth, len(lasts))], isLast(items[i:]))
		var b strings.Builder
		for level := 1; level < min(depth, len(lasts)); level++ {
			b.WriteString(s.Stem(lasts[level]))
		}
		if depth > 0 {
			b.WriteString(s.Branch(lasts[len(lasts)-1]))
		}
		out[i] = b.String()
	}
	return out
}

// isLast is true for a first quota after which no other on its level comes before one above.
func isLast(items []diagnosticsv1alpha1.QuotaOverview) bool {
	for i := range items[1:] {
		if order := cmp.Compare(items[i+1].Depth, items[0].Depth); order <= 0 {
			return order < 0
		}
	}
	return true
}
