package numa

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/cpuset"
)

// Message says a verdict of Filter with its numbers: "needs 4 CPUs on idle cores, 6 CPUs are free but only 2 of them on
// idle cores".
func (t *Trace) Message(verdict Verdict) string {
	switch verdict.Code {
	case "":
		return "CPUs and NUMA zones suffice"
	case finding.CPUsExhausted, finding.CPUBindPolicyUnsatisfied:
		return t.cpuMessage(verdict)
	case finding.CPUsNotWholeCores:
		return fmt.Sprintf("needs %d CPUs in whole cores, a core has %d", t.terms.count, t.node().CPUs.CPUsPerCore())
	case finding.CPUBindPolicyConflict:
		return fmt.Sprintf("requires %s, the node demands %s", t.input.Request.Required, t.node().BindPolicy)
	case finding.NUMAPolicyMismatch:
		return fmt.Sprintf("asks for %s, the node aligns by %s", t.input.Request.Policy, t.node().Policy)
	case finding.CPUsNotInteger:
		return fmt.Sprintf("the node binds every pod to CPUs, and %dm is not a whole number of them", t.input.Request.MilliCPU())
	case finding.AmplifiedCPUInsufficient:
		return fmt.Sprintf("takes %dm CPU at ratio %.2f, %dm of %dm are left", t.wanted, float64(t.node().Ratio),
			max(t.input.AllocatableMilliCPU-t.taken, 0), t.input.AllocatableMilliCPU)
	case finding.NUMAResourceInsufficient, finding.NUMAResourceUnsatisfied:
		return t.zoneMessage(verdict.Resource)
	case finding.NUMAUnaligned, finding.NUMAZonesInsufficient:
		return t.unalignedMessage(verdict)
	case finding.CPUTopologyInvalid, finding.AmplificationInvalid, finding.NUMAZonesMissing:
		if problems := t.node().Problems; len(problems) > 0 {
			return strings.Join(problems, ", ")
		}
		return "the node reports no NodeResourceTopology that says so"
	}
	return verdict.Reason()
}

func (t *Trace) node() *Node { return t.input.Ledger.Node }

func (t *Trace) cpuMessage(verdict Verdict) string {
	node := t.node()
	count := cpuset.CountOf(node.CPUs, t.free)
	var b strings.Builder
	switch {
	case verdict.Code == finding.CPUsExhausted:
		fmt.Fprintf(&b, "needs %d exclusive CPUs, %d of %d are free", t.terms.count, count.Free, node.CPUs.CPUs.Len())
		if lost := t.input.Ledger.Free.Len() - count.Free; lost > 0 {
			fmt.Fprintf(&b, " (%d more are, but pods hold the cpu of their NUMA zones)", lost)
		}
	case verdict.Policy == extension.CPUBindPolicyFullPCPUs:
		fmt.Fprintf(&b, "needs %d CPUs on idle cores, %d CPUs are free but only %d of them on idle cores", t.terms.count, count.Free, count.Idle)
	default:
		fmt.Fprintf(&b, "needs %d CPUs on different cores, %d CPUs are free but on only %d cores", t.terms.count, count.Free, count.Cores)
	}
	for _, kept := range node.Kept {
		fmt.Fprintf(&b, ", %s keeps %s", kept.By, kept.CPUs)
	}
	return b.String()
}

// zoneMessage lists what each zone has of a resource.
func (t *Trace) zoneMessage(name corev1.ResourceName) string {
	parts := make([]string, 0, len(t.node().Zones))
	for i, zone := range t.node().Zones {
		parts = append(parts, fmt.Sprintf("NUMA node %d has %s of %s left", zone.ID, amountText(name, t.input.Ledger.Zones[i].Free[name]), amountText(name, zone.Total[name])))
	}
	return fmt.Sprintf("needs %s %s aligned by %s: %s", amountText(name, t.input.wanted(t.terms, name)), name, t.terms.align, strings.Join(parts, ", "))
}

// unalignedMessage lists, for each resource, what each zone has of it, and ends with the reason.
func (t *Trace) unalignedMessage(verdict Verdict) string {
	var parts []string
	for _, name := range t.input.alignable() {
		parts = append(parts, t.zoneMessage(name))
	}
	return strings.Join(append(parts, verdict.Reason()), "; ")
}

func amountText(name corev1.ResourceName, amount int64) string {
	switch name {
	case corev1.ResourceCPU:
		return resource.NewMilliQuantity(amount, resource.DecimalSI).String()
	case corev1.ResourceMemory:
		return resource.NewQuantity(amount, resource.BinarySI).String()
	}
	return resource.NewQuantity(amount, resource.DecimalSI).String()
}
