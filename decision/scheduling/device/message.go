package device

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/numa"
)

// nouns name devices in messages, one and several.
var nouns = [kinds][2]string{gpu: {"GPU", "GPUs"}, rdma: {"RDMA device", "RDMA devices"}, fpga: {"FPGA", "FPGAs"}}

var dimensionWords = [dimensions]string{
	core: "core", memory: "memory", ratio: "memory", npuCore: "npu-core", npuCPU: "npu-cpu", npuDVPP: "npu-dvpp", rdmaShare: "capacity", fpgaShare: "capacity",
}

func (k kind) several(count int) string {
	if count == 1 {
		return nouns[k][0]
	}
	return nouns[k][1]
}

// amountText writes an amount for people: percent, or bytes in the largest binary unit that leaves at most two decimals,
// rounded down.
func amountText(d dimension, value int64) string {
	switch d {
	case core, ratio, rdmaShare, fpgaShare:
		return strconv.FormatInt(value, 10) + "%"
	case memory:
		for i, suffix := range []string{"Ti", "Gi", "Mi", "Ki"} {
			if unit := int64(1) << (40 - 10*i); value >= unit {
				return strconv.FormatFloat(float64(value/(unit/100))/100, 'f', -1, 64) + suffix
			}
		}
	}
	return strconv.FormatInt(value, 10)
}

// Message says why a node was refused, with its numbers: "6 of 8 GPUs have < 50 % core free; largest free share 30 %".
func (t *Trace) Message(refusal *Refusal) string {
	of := t.of(refusal.Type)
	facts := &t.input.Ledger.labels
	switch refusal.Code {
	case finding.GPUIsolationMissing:
		return fmt.Sprintf("the pod asks for GPU isolation by %s, the node offers %s", t.input.Request.isolation, orNone(facts.isolation))
	case finding.DevicePluginBusy:
		return t.lockMessage()
	case finding.GPUTemplateUnmatched:
		return fmt.Sprintf("the request is not a shared-resource template of %s", facts.modelKey())
	case finding.GPUPartitionSizeUnknown:
		return fmt.Sprintf("the node has no partition of %d GPUs, only of %s", t.input.Request.demand(gpu).Count, t.sizes())
	case finding.GPUPartitionsInsufficient:
		return t.partitionMessage(of)
	case finding.DeviceScopeInsufficient:
		return t.scopeMessage(of)
	case finding.DeviceJointViolation:
		return t.jointMessage()
	case finding.DeviceNUMAInsufficient:
		of = t.last()
	}
	if of == nil || len(of.Devices) == 0 {
		if refusal.Code == finding.DevicesInsufficient {
			return fmt.Sprintf("the node has no %s", nouns[kindNamed(refusal)][1])
		}
		return refusal.Reason
	}
	if zones := t.input.Zones; zones != 0 {
		return fmt.Sprintf("the pod may use NUMA nodes %s only: %s", zoneList(zones), of.shortage())
	}
	return of.shortage()
}

func zoneList(zones numa.Mask) string {
	var list []string
	for zone := range zones.Zones() {
		list = append(list, strconv.Itoa(zone))
	}
	return strings.Join(list, ", ")
}

func kindNamed(refusal *Refusal) kind {
	k, _ := kindOf(refusal.Type)
	return k
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// shortage says how many devices were passed over for what.
func (t *TypeTrace) shortage() string {
	k := t.Demand.kind
	var parts []string
	for _, group := range t.groups() {
		parts = append(parts, fmt.Sprintf("%d of %d %s %s", group.count, len(t.Devices), k.several(len(t.Devices)), group.text))
	}
	if t.Needed > 1 {
		parts = append(parts, fmt.Sprintf("needs %d, %d can serve", t.Needed, t.Eligible))
	}
	if d, most, found := t.mostFree(); found {
		parts = append(parts, fmt.Sprintf("largest free share %s", amountText(d, most)))
	}
	return strings.Join(parts, "; ")
}

type exclusionGroup struct {
	text  string
	count int
}

// groups counts the devices that were passed over, by the reason, the most frequent first.
func (t *TypeTrace) groups() []exclusionGroup {
	var groups []exclusionGroup
	for i := range t.Devices {
		if t.Devices[i].Serves() {
			continue
		}
		text := t.Demand.exclusionText(&t.Devices[i])
		at := slices.IndexFunc(groups, func(g exclusionGroup) bool { return g.text == text })
		if at < 0 {
			at = len(groups)
			groups = append(groups, exclusionGroup{text: text})
		}
		groups[at].count++
	}
	slices.SortStableFunc(groups, func(a, b exclusionGroup) int { return cmp.Compare(b.count, a.count) })
	for i := range groups {
		groups[i].text = agree(groups[i].text, groups[i].count)
	}
	return groups
}

// agree puts the verb into the number of its subject.
func agree(text string, count int) string {
	if count != 1 {
		return text
	}
	for _, verb := range [][2]string{{"are ", "is "}, {"have ", "has "}} {
		if rest, found := strings.CutPrefix(text, verb[0]); found {
			return verb[1] + rest
		}
	}
	return text
}

func (d *Demand) exclusionText(device *DeviceTrace) string {
	switch device.excluded {
	case unhealthy:
		return "are not healthy"
	case notSelected:
		return "are not selected"
	case outOfZone:
		return "are in other NUMA nodes"
	case heldExclusively:
		return "are held by pods of the same exclusive policy"
	case withoutFunction:
		return "have no virtual function that is selected"
	case noFunction:
		return "have no free virtual function that is selected"
	}
	asked := amountText(device.lacking, d.askedOf(device)[device.lacking])
	if device.excluded == tooSmall {
		return fmt.Sprintf("have < %s %s in all", asked, dimensionWords[device.lacking])
	}
	return fmt.Sprintf("have < %s %s free", asked, dimensionWords[device.lacking])
}

// askedOf is what the demand takes of a device.
func (d *Demand) askedOf(device *DeviceTrace) Amount {
	if d.kind != gpu {
		return d.Each
	}
	return d.Each.completed(&device.Total)
}

// mostFree is the largest free amount of what most devices lack, for a share that lacks something.
func (t *TypeTrace) mostFree() (lacking dimension, most int64, found bool) {
	if !t.Demand.Shared {
		return 0, 0, false
	}
	for i := range t.Devices {
		if device := &t.Devices[i]; device.excluded == tooLittleLeft {
			if !found {
				lacking, found = device.lacking, true
			}
			if device.lacking == lacking {
				most = max(most, device.Free[lacking])
			}
		}
	}
	return lacking, most, found
}

func (t *Trace) sizes() string {
	var sizes []string
	for _, size := range t.input.Ledger.table.sizes {
		sizes = append(sizes, strconv.Itoa(size.gpus))
	}
	return strings.Join(sizes, ", ")
}

func (t *Trace) partitionMessage(of *TypeTrace) string {
	partitions, _ := t.input.Ledger.table.of(of.Needed)
	busy, slow, poor := 0, 0, 0
	rule := &t.input.Request.partition
	for i := range partitions {
		p := &partitions[i]
		switch {
		case rule.best && p.score < partitions[0].score:
			poor++
		case rule.bandwidth > 0 && p.bandwidth < rule.bandwidth:
			slow++
		default:
			busy++
		}
	}
	parts := []string{fmt.Sprintf("none of %d partitions of %d %s is free: %d with a GPU in use or not healthy", len(partitions), of.Needed, gpu.several(of.Needed), busy)}
	if slow > 0 {
		parts = append(parts, fmt.Sprintf("%d with a ring that is too slow", slow))
	}
	if poor > 0 {
		parts = append(parts, fmt.Sprintf("%d of a lower score", poor))
	}
	return strings.Join(parts, ", ")
}

var levelWords = [...]string{oneDevice: "in one device", onePCIe: "on one PCIe switch", oneNUMANode: "in one NUMA node", wholeNode: "on the node"}

// scopeMessage compares what is needed with the scope that has most.
func (t *Trace) scopeMessage(of *TypeTrace) string {
	d, most := of.Demand, 0
	for _, sc := range t.input.Ledger.node.scopes[d.kind] {
		inside := 0
		for i := range of.Devices {
			if of.Devices[i].Serves() && sc.members.has(i) {
				inside++
			}
		}
		if sc.level <= max(d.scope, onePCIe) {
			most = max(most, inside)
		}
	}
	if d.scope == oneDevice {
		most = min(most, 1)
	}
	return fmt.Sprintf("needs %d %s %s; %d can serve, at most %d of them %s", of.Needed, d.kind.several(of.Needed), levelWords[d.scope], of.Eligible, most, levelWords[d.scope])
}

// jointMessage lists what each PCIe switch has of each type.
func (t *Trace) jointMessage() string {
	var needs, switches []string
	for _, k := range t.input.Request.joint {
		if of := t.of(typeNames[k]); of != nil {
			needs = append(needs, fmt.Sprintf("%d %s", of.Needed, k.several(of.Needed)))
		}
	}
	for pcie, sw := range t.input.Ledger.node.switches {
		var has []string
		for _, k := range t.input.Request.joint {
			count := 0
			if of := t.of(typeNames[k]); of != nil {
				for i := range of.Devices {
					if of.Devices[i].Serves() && t.input.Ledger.node.devices[k][i].pcie == pcie {
						count++
					}
				}
			}
			has = append(has, fmt.Sprintf("%d %s", count, k.several(count)))
		}
		switches = append(switches, sw.id+" has "+strings.Join(has, " and "))
	}
	const listed = 8
	if more := len(switches) - listed; more > 0 {
		switches = append(switches[:listed], fmt.Sprintf("and %d more switches", more))
	}
	return fmt.Sprintf("needs %s on the same PCIe switches: %s", strings.Join(needs, " and "), strings.Join(switches, ", "))
}
