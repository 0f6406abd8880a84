package main

import (
	"fmt"
	"io"
	"slices"
)

// report prints the medians, and their ratios to the first scheduler of each workload.
func report(w io.Writer, results []result) {
	fmt.Fprintln(w, "| workload | scheduler | pods/s | CPU-s per 1,000 pods | peak MiB | pods/s ratio | CPU ratio | memory ratio |")
	fmt.Fprintln(w, "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
	type key struct{ workload, scheduler string }
	var order []key
	groups := map[key][]result{}
	for _, r := range results {
		k := key{r.Workload, r.Scheduler}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	first := map[string][3]float64{}
	for _, k := range order {
		values := [3]float64{medianOf(groups[k], result.podsPerSecond), medianOf(groups[k], result.cpuPerThousand), medianOf(groups[k], func(r result) float64 { return r.PeakMiB })}
		if _, known := first[k.workload]; !known {
			first[k.workload] = values
		}
		base := first[k.workload]
		rates := [2]string{fmt.Sprintf("%.0f", values[0]), fmt.Sprintf("%.2f", values[0]/base[0])}
		if groups[k][0].Idle {
			rates = [2]string{"-", "-"}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.2f | %.0f | %s | %.2f | %.2f |\n", k.workload, k.scheduler,
			rates[0], values[1], values[2], rates[1], values[1]/base[1], values[2]/base[2])
	}
}

func medianOf(results []result, value func(result) float64) float64 {
	values := make([]float64, len(results))
	for i, r := range results {
		values[i] = value(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
