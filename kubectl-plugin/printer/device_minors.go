package printer

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// minorColumns of `top devices NODE`, a row for each device.
var minorColumns = []column{
	{header: "NAME", flexible: 12},
	{header: "TYPE", flexible: 8},
	{header: "MINOR", right: true},
	{header: "HEALTH"},
	{header: "FREE", right: true},
	{header: "MEM-FREE", right: true, drop: 3},
	{header: "NUMA", right: true, drop: 1},
	{header: "PCIE", flexible: 8, drop: 4},
	{header: "NEAR", flexible: 8, drop: 2},
	{header: "VFS", right: true, drop: 5},
	{header: "ID", wide: true},
	{header: "BUS", wide: true},
	{header: "HELD-BY", flexible: 12},
}

// DeviceMinors prints each device of nodes as a row, and below them the partitions of GPUs, what is wrong with the Devices and what was
// found about what pods hold.
func DeviceMinors(w io.Writer, list *diagnosticsv1alpha1.DeviceOverviewList, o Options) error {
	l := newListing(minorColumns, o)
	for i := range list.Items {
		d := &list.Items[i]
		for j := range d.Types {
			for k := range d.Types[j].Minors {
				l.add(d, minorCells(d.Name, &d.Types[j], &d.Types[j].Minors[k])...)
			}
		}
	}
	if err := l.render(w); err != nil {
		return err
	}
	var found []diagnosticsv1alpha1.Finding
	for i := range list.Items {
		if err := devicePartitions(w, &list.Items[i], o); err != nil {
			return err
		}
		found = append(found, list.Items[i].Findings...)
	}
	return findings(w, found, o)
}

func minorCells(node string, t *diagnosticsv1alpha1.DeviceTypeOverview, m *diagnosticsv1alpha1.DeviceMinor) []cell {
	numa, functions := "-", "-"
	if m.NUMANode != nil {
		numa = strconv.Itoa(int(*m.NUMANode))
	}
	if m.VirtualFunctions > 0 {
		functions = fmt.Sprintf("%d/%d", m.VirtualFunctionsHeld, m.VirtualFunctions)
	}
	managed := t.State != diagnosticsv1alpha1.DeviceUnmanaged
	return []cell{
		text(node), text(t.Type), text(strconv.Itoa(int(m.Minor))), minorHealth(m), freeCell(m, managed), memoryCell(m), text(numa),
		text(orDash(m.PCIe)), text(nearText(m.Near)), text(functions), text(orDash(m.ID)), text(orDash(m.BusID)), heldCell(m, managed),
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func minorHealth(m *diagnosticsv1alpha1.DeviceMinor) cell {
	if m.Healthy {
		return text("ok")
	}
	return painted(Bad, "unhealthy")
}

// freeCell is the share that is free; a device that is not healthy has none.
func freeCell(m *diagnosticsv1alpha1.DeviceMinor, managed bool) cell {
	switch {
	case !managed:
		return painted(Dim, "-")
	case m.FreePercent == nil:
		return text(unseen)
	case *m.FreePercent == 100:
		return painted(Good, "100%")
	}
	return text(fmt.Sprintf("%d%%", *m.FreePercent))
}

// memoryCell is free of all memory; a dash for devices without.
func memoryCell(m *diagnosticsv1alpha1.DeviceMinor) cell {
	for i := range m.Resources {
		if r := &m.Resources[i]; r.Resource == string(extension.ResourceGPUMemory) {
			return text(Pair(r.Free, &r.Total, r.Unit))
		}
	}
	return painted(Dim, "-")
}

// nearText lists the minors of devices that are near, by type and scope: "rdma 0,1" on the same PCIe switch, "rdma 2 (NUMA)" on the
// same NUMA node only.
func nearText(near []diagnosticsv1alpha1.DevicePeer) string {
	var b strings.Builder
	for i, peer := range near {
		switch {
		case i > 0 && near[i-1].Type == peer.Type && near[i-1].Scope == peer.Scope:
			b.WriteString(",")
		case i > 0:
			b.WriteString("; " + peer.Type + " ")
		default:
			b.WriteString(peer.Type + " ")
		}
		b.WriteString(strconv.Itoa(int(peer.Minor)))
	}
	if len(near) > 0 && near[0].Scope == string(extension.DeviceTopologyScopeNUMANode) {
		b.WriteString(" (NUMA)")
	}
	return orDash(b.String())
}

// heldCell names who holds a device, and how much where that is not all of it.
func heldCell(m *diagnosticsv1alpha1.DeviceMinor, managed bool) cell {
	var names []string
	for _, h := range m.Holders {
		name := h.Namespace + "/" + h.Name
		if h.Namespace == "" {
			name = strings.ToLower(h.Kind) + " " + h.Name
		}
		if h.Percent != 100 {
			name += fmt.Sprintf(" %d%%", h.Percent)
		}
		names = append(names, name)
	}
	switch {
	case len(names) > 0:
		return text(strings.Join(names, ", "))
	case managed && m.FreePercent == nil:
		return text(unseen)
	}
	return painted(Dim, "-")
}

// devicePartitions lists the partitions of a node's GPUs, and what cannot be read of its Device.
func devicePartitions(w io.Writer, d *diagnosticsv1alpha1.DeviceOverview, o Options) error {
	if len(d.Partitions) > 0 {
		policy := "preferred"
		if d.HonorsPartitions {
			policy = "whole GPUs are allocated by partition only"
		}
		if err := title(w, o.Style.Clean("GPU partitions of "+d.Name+"; "+policy), o); err != nil {
			return err
		}
		t := table{indent: 2, columns: []column{{header: "GPUS", right: true}, {header: "IDLE", right: true}, {header: "SCORE", right: true}, {header: "MINORS"}}}
		for _, p := range d.Partitions {
			role := Plain
			if p.Idle != nil && int(*p.Idle) == len(p.Minors) {
				role = Good
			}
			t.add(text(strconv.Itoa(len(p.Minors))), painted(role, optional(wide(p.Idle), diagnosticsv1alpha1.Count)), text(strconv.Itoa(int(p.Score))), text(minorList(p.Minors)))
		}
		if _, err := t.render(w, o); err != nil {
			return err
		}
	}
	for _, problem := range d.Problems {
		if err := line(w, o, Warn, fmt.Sprintf("Device %s: %s", d.Name, problem)); err != nil {
			return err
		}
	}
	return nil
}

func minorList(minors []int32) string {
	texts := make([]string, len(minors))
	for i, minor := range minors {
		texts[i] = strconv.Itoa(int(minor))
	}
	return strings.Join(texts, ",")
}
