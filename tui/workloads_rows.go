package tui

import (
	"fmt"
	"regexp"
	"strings"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/quantity"
)

// workloadRow is a workload.
type workloadRow struct {
	*diagnostics.WorkloadOverview
}

func workloadRows(list *diagnostics.WorkloadOverviewList) []workloadRow {
	if list == nil {
		return nil
	}
	rows := make([]workloadRow, len(list.Items))
	for i := range list.Items {
		rows[i] = workloadRow{&list.Items[i]}
	}
	return rows
}

func workloadKey(r *workloadRow) string { return r.Namespace + "/" + r.Name }

// workloadProblem selects workloads for problems-only mode: those with pods that wait for a node, and those that leave most of their CPU idle.
func workloadProblem(r *workloadRow) bool { return r.Waiting > 0 || mostlyIdle(r) }

const (
	// idlePercent of the CPU that a workload requests are too much to leave idle, and idleLeast thousandths of a core are too little to mind.
	idlePercent = 75
	idleLeast   = 1000
)

// mostlyIdle reports whether a workload leaves at least a core idle, and three quarters of what it requests. What pods that are not measured
// request counts as used. Memory is left out: it is requested for peaks, and not given back between them.
func mostlyIdle(r *workloadRow) bool {
	idle := r.CPU.Idle
	return idle != nil && *idle >= idleLeast && *idle >= r.CPU.Requested/100*idlePercent
}

// workloadReason says what is wrong with a workload.
func workloadReason(r *workloadRow, _ int) string {
	var out []string
	if r.Waiting > 0 {
		out = append(out, fmt.Sprintf("%d of %s without a node", r.Waiting, plural(int(r.Pods), "pod")))
	}
	if mostlyIdle(r) {
		out = append(out, fmt.Sprintf("%s of %s requested cores are idle", quantity.Cores(*r.CPU.Idle), quantity.Cores(r.CPU.Requested)))
	}
	return strings.Join(out, "; ")
}

// namesOfPods are what follows the name of a workload in the names of its pods, by its kind, as a regular expression. Those of other kinds
// name their pods as they please.
var namesOfPods = map[string]string{
	"deployment": `-\w+-\w+`, "replicaset": `-\w+`, "replicationcontroller": `-\w+`, "daemonset": `-\w+`, "cloneset": `-\w+`,
	"statefulset": `-\d+`, "job": `(-\d+)?-\w+`, "pod": ``,
}

// longestBase is how much of a name API servers keep of what they generate names from. Names that go on are cut there.
const longestBase = 58

// podsOfWorkload is the filter of pods that keeps those of a workload, as far as their names tell them; else those of its namespace.
func podsOfWorkload(namespace, workload string) string {
	const hash = len("-77c9f5d8b6-")
	kind, name, _ := strings.Cut(workload, "/")
	tail, known := namesOfPods[kind]
	switch lead := "^" + regexp.QuoteMeta(namespace+"/"); {
	case !known:
		return lead
	case len(name)+hash > longestBase && kind != "pod" && kind != "statefulset":
		return lead + regexp.QuoteMeta(name[:min(len(name), longestBase)])
	default:
		return lead + regexp.QuoteMeta(name) + tail + `\s`
	}
}
