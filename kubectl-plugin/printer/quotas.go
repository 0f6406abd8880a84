package printer

import (
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	decided "koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/decision/scheduling/quotaview"
)

// quotaBarWidth is the width of the bar of a row.
const quotaBarWidth = 16

// QuotaOverviews prints ElasticQuotas as rows: of each resource the min, what is used of the runtime, and what is requested. On a terminal
// with room for it each row has a bar of the first resource.
func QuotaOverviews(w io.Writer, list *diagnosticsv1alpha1.QuotaOverviewList, o Options) error {
	resources := quotaResources(list.Items, o.Wide)
	columns := append([]column{{header: "NAME", flexible: 16}, {header: "PARENT", flexible: 10, drop: 8}, {header: "TREE", wide: true}}, quotaColumns(resources)...)
	l := newListing(columns, o)
	for i := range list.Items {
		q := &list.Items[i]
		cells := []cell{text(q.Name), text(orNone(q.Parent)), text(orNone(q.Tree))}
		l.add(q, append(cells, quotaCells(&q.QuotaFacts, resources, o)...)...)
	}
	return l.render(w)
}

// quotaResources are those that rows show: cpu and memory, or else the first two, and all for wide.
func quotaResources(items []diagnosticsv1alpha1.QuotaOverview, wide bool) []corev1.ResourceName {
	var all []corev1.ResourceName
	for i := range items {
		for _, r := range items[i].Resources {
			if name := corev1.ResourceName(r.Resource); !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	amount.Sort(all)
	if wide {
		return all
	}
	return all[:min(len(all), 2)]
}

// resourceTitle begins the header of a resource's columns.
func resourceTitle(name corev1.ResourceName) string {
	title := strings.ToUpper(amount.ShortName(name))
	if short, is := strings.CutSuffix(title, "MEMORY"); is {
		return short + "MEM"
	}
	return title
}

// quotaColumns are those of the state and of each resource.
func quotaColumns(resources []corev1.ResourceName) []column {
	columns := []column{{header: "STATE"}}
	if len(resources) > 0 {
		columns = append(columns, column{header: resourceTitle(resources[0]) + "-SHARE", drop: 9, terminal: true})
	}
	for i, name := range resources {
		title := resourceTitle(name)
		columns = append(columns,
			column{header: title + "-MIN", right: true, drop: 5 + i}, column{header: title + "-USED", right: true, drop: i},
			column{header: title + "-REQ", right: true, drop: 3 + i}, column{header: title + "-MAX", right: true, wide: true})
	}
	return append(columns, column{header: "REASON", flexible: 24, wide: true, says: true})
}

// quotaCells are the cells of quotaColumns.
func quotaCells(q *diagnosticsv1alpha1.QuotaFacts, resources []corev1.ResourceName, o Options) []cell {
	cells := []cell{painted(quotaRole(q.State), string(q.State))}
	for i, name := range resources {
		a := quotaview.AmountsIn(q, name)
		if i == 0 {
			cells = append(cells, styled(QuotaBar(&a, quotaBarWidth, o.Style)))
		}
		cells = append(cells, limitOf(a.Min, name, o), usedOfRuntime(&a, o), requested(&a, o), limitOf(a.Max, name, o))
	}
	reason := q.Reason
	if q.Misplaced != "" {
		reason = q.Misplaced
	}
	return append(cells, painted(Dim, reason))
}

func quotaRole(state diagnosticsv1alpha1.QuotaState) Role {
	switch {
	case state == diagnosticsv1alpha1.QuotaInvalid || state == diagnosticsv1alpha1.QuotaOverused:
		return Bad
	case quotaview.IsProblem(state):
		return Warn
	case state == diagnosticsv1alpha1.QuotaNormal:
		return Good
	}
	return Plain
}

// quotaAmount is an amount for a cell; what is not known is a dash.
func quotaAmount(v *int64, name corev1.ResourceName, o Options) string {
	switch {
	case v == nil:
		return "-"
	case *v >= decided.Boundless:
		return o.Style.Endless()
	}
	return Quantity(*v, amount.UnitOf(name))
}

func limitOf(v *int64, name corev1.ResourceName, o Options) cell {
	if v == nil {
		return painted(Dim, "-")
	}
	return text(quotaAmount(v, name, o))
}

// usedOfRuntime stands out when more is used than may be.
func usedOfRuntime(a *quotaview.Amounts, o Options) cell {
	if a.Used == nil && a.Runtime == nil {
		return painted(Dim, "-")
	}
	shown := quotaAmount(a.Used, a.Resource, o) + "/" + quotaAmount(a.Runtime, a.Resource, o)
	if a.Used != nil && a.Runtime != nil && *a.Runtime < decided.Boundless {
		shown = Pair(a.Used, a.Runtime, amount.UnitOf(a.Resource))
	}
	if quotaview.Exceeds(a.Used, a.Runtime) {
		return painted(Bad, shown)
	}
	return text(shown)
}

// requested stands out when it is more than the runtime.
func requested(a *quotaview.Amounts, o Options) cell {
	cell := limitOf(a.Request, a.Resource, o)
	if quotaview.Exceeds(a.Request, a.Runtime) {
		cell.role = Warn
	}
	return cell
}
