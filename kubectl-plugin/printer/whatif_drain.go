package printer

import (
	"fmt"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// DrainForecast prints what draining nodes does: the verdict first, then the pods, what holds them up, and the other nodes.
func DrainForecast(w io.Writer, f *diagnosticsv1alpha1.DrainForecast, o Options) error {
	if err := forecastHead(w, DrainRole(f.Verdict), string(f.Verdict), f.Message, []string{f.Command}, f.Notes, o); err != nil {
		return err
	}
	if err := drainPods(w, f, o); err != nil {
		return err
	}
	return DrainEffects(w, f, o)
}

// DrainEffects prints what draining nodes does apart from where each pod goes: what holds the pods up, the other nodes, and what the
// cluster loses.
func DrainEffects(w io.Writer, f *diagnosticsv1alpha1.DrainForecast, o Options) error {
	for _, part := range []func(io.Writer, *diagnosticsv1alpha1.DrainForecast, Options) error{
		drainBudgets, drainTargets, drainCapacity, drainGangs, drainQuotas, drainReservations,
	} {
		if err := part(w, f, o); err != nil {
			return err
		}
	}
	return findings(w, f.Findings, o)
}

// DrainRole is the role in which a verdict is shown.
func DrainRole(verdict diagnosticsv1alpha1.DrainVerdict) Role {
	switch verdict {
	case diagnosticsv1alpha1.DrainCompletes:
		return Good
	case diagnosticsv1alpha1.DrainUnknown:
		return Warn
	}
	return Bad
}

func drainPods(w io.Writer, f *diagnosticsv1alpha1.DrainForecast, o Options) error {
	if len(f.Pods) == 0 {
		return nil
	}
	if err := title(w, "Pods", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "POD", flexible: 16}, {header: "FROM", flexible: 10, wide: len(f.Nodes) < 2}, {header: "OWNER", wide: true}, {header: "REQUESTS", wide: true},
		{header: "ROUND", right: true}, {header: "TO", flexible: 10}, {header: "PDB", flexible: 8, drop: 2}, {header: "FLAGS", wide: true}, {header: "REASON", flexible: 20, drop: 1, says: true},
	}}
	for i := range f.Pods {
		p := &f.Pods[i]
		t.add(text(p.Namespace+"/"+p.Name), text(p.Node), text(orNone(p.Owner)), text(ForecastAmounts(p.Requests)), painted(DrainRound(p)), painted(DrainTo(p)),
			text(orNone(p.Budget)), text(orNone(strings.Join(p.Flags, ","))), text(orNone(DrainReason(p))))
	}
	_, err := t.render(w, o)
	return err
}

// DrainRound is the round in which a pod is evicted, or that it is blocked or stays.
func DrainRound(p *diagnosticsv1alpha1.DrainedPod) (Role, string) {
	switch {
	case p.Action == diagnosticsv1alpha1.DrainSkip:
		return Dim, "stays"
	case p.Blocked != "":
		return Bad, "blocked"
	}
	return Plain, fmt.Sprint(p.Round)
}

// DrainTo is the node on which a pod comes back, or what becomes of it without one.
func DrainTo(p *diagnosticsv1alpha1.DrainedPod) (Role, string) {
	switch p.Place {
	case "":
		return Dim, p.Node
	case diagnosticsv1alpha1.DrainPlaceFound:
		return Good, p.To
	case diagnosticsv1alpha1.DrainPlaceNone:
		return Bad, "<none>"
	case diagnosticsv1alpha1.DrainPlaceDone:
		return Dim, "<done>"
	}
	return Warn, "<" + strings.ToLower(string(p.Place)) + ">"
}

// DrainReason is what matters most about a pod: why it is blocked or gets no node, before what is lost.
func DrainReason(p *diagnosticsv1alpha1.DrainedPod) string {
	var parts []string
	if p.Place == diagnosticsv1alpha1.DrainPlaceNone || p.Place == diagnosticsv1alpha1.DrainPlaceUnknown {
		parts = append(parts, p.Summary)
	}
	for _, reason := range []string{p.Blocked, p.Reason} {
		if reason != "" {
			parts = append(parts, reason)
		}
	}
	return strings.Join(parts, "; ")
}

func drainBudgets(w io.Writer, f *diagnosticsv1alpha1.DrainForecast, o Options) error {
	if len(f.Budgets) == 0 {
		return nil
	}
	if err := title(w, "PodDisruptionBudgets", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "NAME", flexible: 12}, {header: "PODS", right: true}, {header: "BLOCKED", right: true}, {header: "ALLOWED", right: true},
		{header: "HEALTHY", right: true, drop: 2}, {header: "NEEDED", right: true, drop: 2}, {header: "ROUNDS", right: true}, {header: "MESSAGE", flexible: 20, drop: 1, says: true},
	}}
	for i := range f.Budgets {
		b := &f.Budgets[i]
		role := Good
		if b.Blocked > 0 {
			role = Bad
		}
		t.add(text(b.Namespace+"/"+b.Name), text(fmt.Sprint(b.Pods)), painted(role, fmt.Sprint(b.Blocked)), text(fmt.Sprint(b.DisruptionsAllowed)),
			text(fmt.Sprint(b.CurrentHealthy)), text(fmt.Sprint(b.DesiredHealthy)), text(fmt.Sprint(b.Rounds)), text(b.Message))
	}
	_, err := t.render(w, o)
	return err
}

// drainTargets lists the nodes that get pods, with -o wide all.
func drainTargets(w io.Writer, f *diagnosticsv1alpha1.DrainForecast, o Options) error {
	t := table{indent: 2, columns: []column{
		{header: "NODE", flexible: 10}, {header: "PODS", right: true}, {header: "RESOURCE", flexible: 6}, {header: "REQ-BEFORE", right: true}, {header: "REQ-AFTER", right: true},
		{header: "USED-BEFORE", right: true, drop: 1}, {header: "USED-AFTER", right: true, drop: 1},
	}}
	for i := range f.Targets {
		target := &f.Targets[i]
		if target.PodsAfter == target.PodsBefore && !o.Wide {
			continue
		}
		for j := range target.Resources {
			load := &target.Resources[j]
			name, pods := text(""), text("")
			if j == 0 {
				name, pods = text(target.Name), text(fmt.Sprintf("%d+%d", target.PodsBefore, target.PodsAfter-target.PodsBefore))
			}
			t.add(name, pods, text(shortResource(load.Resource)), shareOf(&load.RequestedBefore, load.Allocatable), shareOf(&load.RequestedAfter, load.Allocatable),
				shareOf(load.UsedBefore, load.Allocatable), shareOf(load.UsedAfter, load.Allocatable))
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	if err := title(w, "Other nodes", o); err != nil {
		return err
	}
	_, err := t.render(w, o)
	return err
}

// shareOf is a percentage of what a node offers.
func shareOf(amount *int64, of int64) cell {
	if amount == nil {
		return text("-")
	}
	if of <= 0 {
		return painted(Bad, "none")
	}
	percent := float64(*amount) / float64(of) * 100
	role := Plain
	if percent > 100 {
		role = Bad
	}
	return painted(role, decimal(percent, 1)+"%")
}

func drainCapacity(w io.Writer, f *diagnosticsv1alpha1.DrainForecast, o Options) error {
	if len(f.Capacity) == 0 {
		return nil
	}
	if err := title(w, "Capacity of the drained nodes", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "RESOURCE", flexible: 6}, {header: "LOST", right: true}, {header: "SHARE", right: true, drop: 1}, {header: "DISPLACED", right: true}, {header: "FREE-ELSEWHERE", right: true},
	}}
	for i := range f.Capacity {
		c := &f.Capacity[i]
		role := Plain
		if c.Displaced > c.Free {
			role = Bad
		}
		t.add(text(shortResource(c.Resource)), text(Quantity(c.Lost, c.Unit)), basisCell(&c.ShareBasisPoints), painted(role, Quantity(c.Displaced, c.Unit)), text(Quantity(c.Free, c.Unit)))
	}
	_, err := t.render(w, o)
	return err
}

func drainGangs(w io.Writer, f *diagnosticsv1alpha1.DrainForecast, o Options) error {
	if len(f.Gangs) == 0 {
		return nil
	}
	if err := title(w, "Gangs", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "GANG", flexible: 12}, {header: "MEMBERS", right: true}, {header: "LEAVING", right: true}, {header: "UNPLACED", right: true}, {header: "MESSAGE", flexible: 20, says: true}}}
	for i := range f.Gangs {
		g := &f.Gangs[i]
		t.add(text(g.Namespace+"/"+g.Name), text(fmt.Sprint(g.Members)), text(fmt.Sprint(g.Leaving)), drainUnplaced(g.Unplaced), text(g.Message))
	}
	_, err := t.render(w, o)
	return err
}

func drainUnplaced(count int32) cell {
	if count > 0 {
		return painted(Bad, fmt.Sprint(count))
	}
	return text("0")
}

func drainQuotas(w io.Writer, f *diagnosticsv1alpha1.DrainForecast, o Options) error {
	if len(f.Quotas) == 0 {
		return nil
	}
	if err := title(w, "ElasticQuotas", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "QUOTA", flexible: 12}, {header: "LEAVING", right: true}, {header: "UNPLACED", right: true}, {header: "OVERUSED", flexible: 8}, {header: "REQUESTS", flexible: 16}}}
	for i := range f.Quotas {
		q := &f.Quotas[i]
		t.add(text(q.Name), text(fmt.Sprint(q.Leaving)), drainUnplaced(q.Unplaced), painted(Warn, orNone(strings.Join(q.Overused, ","))), text(ForecastAmounts(q.Requests)))
	}
	_, err := t.render(w, o)
	return err
}

func drainReservations(w io.Writer, f *diagnosticsv1alpha1.DrainForecast, o Options) error {
	if len(f.Reservations) == 0 {
		return nil
	}
	if err := title(w, "Reservations on the drained nodes", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "RESERVATION", flexible: 12}, {header: "NODE", flexible: 10}, {header: "LEAVING", right: true}, {header: "RESERVED", flexible: 16}}}
	for i := range f.Reservations {
		r := &f.Reservations[i]
		t.add(text(r.Name), text(r.Node), text(fmt.Sprint(r.Leaving)), text(ForecastAmounts(r.Reserved)))
	}
	_, err := t.render(w, o)
	return err
}
