package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// containerRow has the target.
const containerRow = "container"

// report writes what the plugin adds, and fails when that is more than it may be.
func report(out io.Writer, with, without *timings) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "call\twithout p50\tp99\twith p50\tp99\tadded p50\tp99\tmax\t")
	a, b := without.rows(), with.rows()
	for _, name := range []string{"RunPodSandbox", "CreateContainer", "StartContainer", containerRow, "pod of one container"} {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, micro(a[name].P50), micro(a[name].P99), micro(b[name].P50), micro(b[name].P99),
			micro(b[name].P50-a[name].P50), micro(b[name].P99-a[name].P99), micro(b[name].Max-a[name].Max))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	added := b[containerRow].P99 - a[containerRow].P99
	verdict := "reached"
	if added >= target {
		verdict = "MISSED"
	}
	fmt.Fprintf(out, "added to the start of a container, p99: %s, %.2fx of at most %s: %s\n", micro(added), float64(added)/float64(target), target, verdict)
	if added >= target {
		return errors.New("the target is missed")
	}
	return nil
}

func micro(d time.Duration) string { return d.Round(time.Microsecond).String() }
