package printer

import (
	"fmt"
	"io"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	inputs "koordinator.sh/koord/decision/core/unknown"
)

var workloadColumns = []column{
	{header: "NAME", flexible: 20},
	{header: "PODS", right: true},
	{header: "WAITING", right: true, wide: true},
	{header: "CPU-REQ", right: true},
	{header: "CPU-USED", right: true},
	{header: "CPU-IDLE", right: true},
	{header: "CPU-REC", right: true, drop: 2},
	{header: "BATCH", right: true, drop: 3},
	{header: "MEM-REQ", right: true, drop: 1},
	{header: "MEM-USED", right: true, drop: 1},
	{header: "MEM-IDLE", right: true, drop: 1},
	{header: "MEM-REC", right: true, wide: true},
	{header: "AGE"},
}

// WorkloadOverviews prints workloads as rows: pods, requests against use, what is idle, and the age of the oldest measurement. Groups of
// pods that are not of one namespace have no column for it.
func WorkloadOverviews(w io.Writer, list *diagnosticsv1alpha1.WorkloadOverviewList, o Options) error {
	o.WithNamespace = o.WithNamespace && slices.ContainsFunc(list.Items, func(r diagnosticsv1alpha1.WorkloadOverview) bool { return r.Namespace != "" })
	l := newListing(workloadColumns, o)
	unread := inputs.Of(list.Unknown).Has(inputs.NodeMetrics)
	for i := range list.Items {
		cells := workloadCells(&list.Items[i], o)
		if unread {
			cells[len(cells)-1] = painted(Dim, unknown)
		}
		l.add(&list.Items[i], cells...)
	}
	return l.render(w)
}

func workloadCells(r *diagnosticsv1alpha1.WorkloadOverview, o Options) []cell {
	cpu, memory := diagnosticsv1alpha1.MilliCPU, diagnosticsv1alpha1.Bytes
	waiting := text(fmt.Sprint(r.Waiting))
	if r.Waiting > 0 {
		waiting = painted(Warn, fmt.Sprint(r.Waiting))
	}
	return []cell{
		text(r.Name), text(fmt.Sprint(r.Pods)), waiting,
		text(Quantity(r.CPU.Requested, cpu)), amountOr(r.CPU.Used, cpu, unknown), amountOr(r.CPU.Idle, cpu, unknown), amountOr(r.CPU.Recommended, cpu, none), batchShare(r),
		text(Quantity(r.Memory.Requested, memory)), amountOr(r.Memory.Used, memory, unknown), amountOr(r.Memory.Idle, memory, unknown), amountOr(r.Memory.Recommended, memory, none),
		text(Age(o.Now, r.ObservedAt)),
	}
}

// batchShare is the part of the requested CPU that is batch.
func batchShare(r *diagnosticsv1alpha1.WorkloadOverview) cell {
	if r.CPU.Requested <= 0 {
		return painted(Dim, none)
	}
	return text(decimal(float64(r.CPU.Batch)/float64(r.CPU.Requested)*100, 0) + "%")
}
