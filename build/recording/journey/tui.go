package journey

import (
	"regexp"
	"time"
)

// tui goes through the terminal interface: the cluster, its nodes, one of them, what would be if it were drained, and a pod that is pending.
func tui() Journey {
	return Journey{
		Name: "tui", Title: "koordctl tui", Columns: 120, Rows: 24,
		// Batch pods use what they took.
		Ready: append(atWork(), Condition{Command: []string{"top", "nodes"}, Output: regexp.MustCompile(`; used (1[6-9]|2\d)\d(\.\d+)? \(on 29`)}),
		// No higher than it must be: at the end of its pages is which process answered, by the name of its host.
		Steps: []Step{
			press("koordctl tui\r", 2500*time.Millisecond, "dashboard", "sim-0007", "shop/cache-warmup"),
			press(":nodes\r", 3*time.Second, "sim-0001", "Hot"),
			press("\r", 3*time.Second, "kubernetes.io/batch-cpu", "node.status"),
			press("w", 3500*time.Millisecond, "drain sim-0001", "a forecast, nothing is changed"),
			press(":pods all\r", time.Second, "monthly-report", "Running"),
			press("/monthly\r", 500*time.Millisecond, "monthly-report"),
			press("x", 2500*time.Millisecond, "Unschedulable", "LoadAwareScheduling"),
			press("jjjjj", 4*time.Second, "smallest fix", "verified by replay"),
		},
	}
}
