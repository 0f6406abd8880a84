package device

import (
	"fmt"
	"strconv"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// maxListed bounds the devices that operands list for one type, and maxHolders the pods for one device.
const (
	maxListed  = 16
	maxHolders = 3
)

// Operands are the values behind a refusal: for each type what is needed and how many devices could serve, with each
// device's free amount.
func (t *Trace) Operands() []diagnosticsv1alpha1.Term {
	var terms []diagnosticsv1alpha1.Term
	for i := range t.Types {
		of := &t.Types[i]
		name := of.Demand.kind.String()
		terms = append(terms,
			info(name+"Needed", int64(of.Needed), diagnosticsv1alpha1.Count, of.Demand.each()),
			t.devices(of, name))
	}
	return terms
}

func info(name string, value int64, unit diagnosticsv1alpha1.Unit, note string) diagnosticsv1alpha1.Term {
	return diagnosticsv1alpha1.Term{Name: name, Operator: diagnosticsv1alpha1.Info, Value: value, Unit: unit, Note: note}
}

// each says what is taken of every device.
func (d *Demand) each() string {
	var parts []string
	for dim, value := range d.Each {
		if value > 0 {
			parts = append(parts, amountText(dimension(dim), value)+" "+dimensionWords[dim])
		}
	}
	return "each " + strings.Join(parts, " and ")
}

func (t *Trace) devices(of *TypeTrace, name string) diagnosticsv1alpha1.Term {
	term := info(name+"Eligible", int64(of.Eligible), diagnosticsv1alpha1.Count, fmt.Sprintf("of %d", len(of.Devices)))
	term.Source = &diagnosticsv1alpha1.SourceRef{Kind: "Device", Name: t.input.Ledger.node.name, Field: "spec.devices"}
	for i := range of.Devices {
		if i == maxListed {
			term.PartsOmitted = int32(len(of.Devices) - maxListed)
			break
		}
		term.Parts = append(term.Parts, of.part(&of.Devices[i], name))
	}
	return term
}

// part is one device with what is free of it, in what decides.
func (t *TypeTrace) part(device *DeviceTrace, name string) diagnosticsv1alpha1.Term {
	dim := t.Demand.kind.first()
	if device.excluded == tooLittleLeft || device.excluded == tooSmall {
		dim = device.lacking
	} else if t.Demand.Each[dim] == 0 && t.Demand.kind == gpu {
		dim = ratio
	}
	notes := []string{dimensionWords[dim] + " free"}
	if !device.Serves() {
		notes = append(notes, agree(t.Demand.exclusionText(device), 1))
	}
	if len(device.Holders) > 0 {
		listed := device.Holders[:min(maxHolders, len(device.Holders))]
		held := "held by " + strings.Join(listed, ", ")
		if more := len(device.Holders) - len(listed); more > 0 {
			held += fmt.Sprintf(" and %d more", more)
		}
		notes = append(notes, held)
	}
	return info(name+strconv.Itoa(int(device.Minor)), device.Free[dim], unitOf(dim), strings.Join(notes, "; "))
}

func unitOf(d dimension) diagnosticsv1alpha1.Unit {
	switch d {
	case memory:
		return diagnosticsv1alpha1.Bytes
	case npuCore, npuCPU, npuDVPP:
		return diagnosticsv1alpha1.Count
	}
	return diagnosticsv1alpha1.Percent
}

// Phrase says a refusal in a summary, after a number of nodes.
func (r *Refusal) Phrase() string { return refusalPhrases[r.Code](r) }

// Distance says how far a node is from serving: 0 for nearly, towards 1 the more devices are missing, 1 where that is no
// matter of number.
func (t *Trace) Distance(refusal *Refusal) float64 {
	of := t.of(refusal.Type)
	if of == nil || of.Needed == 0 || !refusal.Resolvable {
		return 1
	}
	return float64(max(0, of.Needed-of.Eligible)) / float64(of.Needed)
}
