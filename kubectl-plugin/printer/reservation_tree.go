package printer

import (
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/scheduling/reservationview"
)

// ReservationTree prints Reservations, each with the pods that use it below.
func ReservationTree(w io.Writer, list *diagnosticsv1alpha1.ReservationOverviewList, o Options) error {
	resources := reservedResources(list.Items, o.Wide)
	t := table{columns: reservationColumns(resources)}
	for i := range list.Items {
		r := &list.Items[i]
		t.add(reservationCells(r, resources, o)...)
		for j := range r.Pods {
			t.add(reservationPodCells(&r.Pods[j], j == len(r.Pods)-1, resources, o)...)
		}
	}
	hidden, err := t.render(w, o)
	if err != nil {
		return err
	}
	return hiddenNote(w, hidden, o)
}

// reservedResources are those that rows show: the first two, and all for wide.
func reservedResources(items []diagnosticsv1alpha1.ReservationOverview, wide bool) []corev1.ResourceName {
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

func reservationColumns(resources []corev1.ResourceName) []column {
	columns := []column{{header: "NAME", flexible: 20}, {header: "STATE"}, {header: "NODE", flexible: 10}}
	for i, name := range resources {
		title := resourceTitle(name)
		columns = append(columns, column{header: title, right: true, drop: 2 * i}, column{header: title + "-FREE", right: true, drop: 2*i + 1})
	}
	return append(columns, column{header: "EXPIRES", right: true, drop: 6}, column{header: "OWNERS", wide: true}, column{header: "REASON", flexible: 24, drop: 7, says: true})
}

func reservationRole(state diagnosticsv1alpha1.ReservationState) Role {
	switch {
	case state == diagnosticsv1alpha1.ReservationCordoned:
		return Warn
	case reservationview.IsProblem(state):
		return Bad
	case state == diagnosticsv1alpha1.ReservationUsed:
		return Good
	case reservationview.Ended(state):
		return Dim
	}
	return Plain
}

func reservationCells(r *diagnosticsv1alpha1.ReservationOverview, resources []corev1.ResourceName, o Options) []cell {
	cells := []cell{text(r.Name), painted(reservationRole(r.State), string(r.State)), text(orNone(r.NodeName))}
	for _, name := range resources {
		at := slices.IndexFunc(r.Resources, func(a diagnosticsv1alpha1.ReservedResource) bool { return a.Resource == string(name) })
		if at < 0 {
			cells = append(cells, painted(Dim, "-"), painted(Dim, "-"))
			continue
		}
		a := &r.Resources[at]
		taken := text(Pair(&a.Allocated, &a.Reserved, a.Unit))
		if a.Allocated > a.Reserved {
			taken.role = Bad
		}
		cells = append(cells, taken, text(Quantity(a.Free, a.Unit)))
	}
	expires := none
	if r.Expires != nil {
		expires = seconds(max(freshness.Seconds(r.Expires.Time, o.Now), 0))
	}
	return append(cells, text(expires), text(strings.Join(r.Owners, ", or ")), painted(Dim, r.Reason))
}

func reservationPodCells(p *diagnosticsv1alpha1.ReservationPod, last bool, resources []corev1.ResourceName, o Options) []cell {
	state := text(orUnseen(p.Phase))
	if p.Gone {
		state = painted(Warn, "Gone")
	}
	name := o.Style.Paint(Dim, o.Style.Branch(last)) + o.Style.Clean(p.Namespace+"/"+p.Name)
	cells := []cell{styled(name), state, text(p.NodeName)}
	for _, resource := range resources {
		requested := ""
		for _, r := range p.Requests {
			if r.Resource == string(resource) {
				requested = Quantity(r.Amount, r.Unit)
			}
		}
		cells = append(cells, text(requested), text(""))
	}
	return append(cells, text(""), text(""), text(""))
}

// orUnseen is a value, or a question mark for one that cannot be seen.
func orUnseen(s string) string {
	if s == "" {
		return unseen
	}
	return s
}
