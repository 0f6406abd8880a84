package printer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/scheduling/deviceview"
)

// deviceColumns of `top devices`, a row for each node and type. They fit 80 columns but for the reason, which the note below the table has
// for the gravest.
var deviceColumns = []column{
	{header: "NAME", flexible: 16},
	{header: "TYPE", flexible: 8},
	{header: "STATE"},
	{header: "HEALTHY", right: true},
	{header: "FREE", right: true},
	{header: "WHOLE", right: true},
	{header: "LARGEST", right: true},
	{header: "HOLDERS", right: true, drop: 1},
	{header: "MODEL", flexible: 8, drop: 2},
	{header: "REASON", flexible: 24, drop: 3, says: true},
}

// DeviceOverviews prints the devices of nodes as rows, one for each node and type.
func DeviceOverviews(w io.Writer, list *diagnosticsv1alpha1.DeviceOverviewList, o Options) error {
	l := newListing(deviceColumns, o)
	for i := range list.Items {
		d := &list.Items[i]
		for j := range d.Types {
			t := &d.Types[j]
			l.add(d, text(d.Name), text(t.Type), painted(deviceRole(t.State), string(t.State)),
				healthCell(t), freeOf(t, devicesOf(t.FreePercent)), freeOf(t, optional(wide(t.IdleDevices), diagnosticsv1alpha1.Count)), freeOf(t, largestText(t)),
				text(holdersText(t)), text(orNone(t.Model)), painted(Dim, t.Reason))
		}
	}
	return l.render(w)
}

func deviceRole(state diagnosticsv1alpha1.DeviceState) Role {
	switch {
	case state == diagnosticsv1alpha1.DeviceOverheld || state == diagnosticsv1alpha1.DeviceStray:
		return Bad
	case deviceview.IsProblem(state):
		return Warn
	case state == diagnosticsv1alpha1.DeviceIdle:
		return Good
	}
	return Plain
}

// freeOf is what is free of a type; a dash for one that koord-scheduler does not allocate.
func freeOf(t *diagnosticsv1alpha1.DeviceTypeOverview, shown string) cell {
	if t.State == diagnosticsv1alpha1.DeviceUnmanaged {
		return painted(Dim, "-")
	}
	return text(shown)
}

func healthCell(t *diagnosticsv1alpha1.DeviceTypeOverview) cell {
	shown := fmt.Sprintf("%d/%d", t.Healthy, t.Devices)
	if t.Healthy < t.Devices {
		return painted(Warn, shown)
	}
	return text(shown)
}

// devicesOf is a number of devices of which 100 is one.
func devicesOf(percent *int64) string {
	if percent == nil {
		return unseen
	}
	return decimal(float64(*percent)/100, 2)
}

// largestText is the largest request that still fits.
func largestText(t *diagnosticsv1alpha1.DeviceTypeOverview) string {
	switch {
	case t.LargestDevices == nil || t.LargestPercent == nil:
		return unseen
	case *t.LargestDevices > 0:
		return fmt.Sprintf("%d whole", *t.LargestDevices)
	case *t.LargestPercent > 0:
		return fmt.Sprintf("%d%%", *t.LargestPercent)
	}
	return "0"
}

// holdersText counts the holders, where all can be seen.
func holdersText(t *diagnosticsv1alpha1.DeviceTypeOverview) string {
	if t.FreePercent == nil && t.State != diagnosticsv1alpha1.DeviceUnmanaged {
		return unseen
	}
	return fmt.Sprint(t.Holders)
}

// DeviceTotals are the sums over several nodes, a line for each type that koord-scheduler allocates. What could not be seen is not summed
// up.
func DeviceTotals(list *diagnosticsv1alpha1.DeviceOverviewList) []string {
	if len(list.Items) < 2 {
		return nil
	}
	var types []string
	sums := map[string]*deviceSum{}
	for i := range list.Items {
		for j := range list.Items[i].Types {
			t := &list.Items[i].Types[j]
			if t.State == diagnosticsv1alpha1.DeviceUnmanaged {
				continue
			}
			if sums[t.Type] == nil {
				sums[t.Type] = &deviceSum{free: new(int64), idle: new(int64)}
				types = append(types, t.Type)
			}
			sums[t.Type].add(t)
		}
	}
	slices.Sort(types)
	var lines []string
	for _, name := range types {
		lines = append(lines, Style{}.Clean(name)+": "+sums[name].text())
	}
	return lines
}

// deviceSum adds up the devices of one type.
type deviceSum struct {
	nodes, devices, healthy int
	free, idle              *int64
}

func (s *deviceSum) add(t *diagnosticsv1alpha1.DeviceTypeOverview) {
	s.nodes, s.devices, s.healthy = s.nodes+1, s.devices+int(t.Devices), s.healthy+int(t.Healthy)
	s.free, s.idle = add(s.free, t.FreePercent), add(s.idle, wide(t.IdleDevices))
}

func (s *deviceSum) text() string {
	parts := []string{fmt.Sprintf("%s on %s", phrase.Counted(s.devices, "device"), phrase.Counted(s.nodes, "node"))}
	if broken := s.devices - s.healthy; broken > 0 {
		parts = append(parts, fmt.Sprintf("%d not healthy", broken))
	}
	if s.free == nil || s.idle == nil {
		return strings.Join(append(parts, "free "+unseen), ", ")
	}
	return strings.Join(append(parts, fmt.Sprintf("%s free, of them %d whole", devicesOf(s.free), *s.idle)), ", ")
}
