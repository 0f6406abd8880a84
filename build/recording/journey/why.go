package journey

import "time"

// why asks why a pod is pending, and makes the change that is proposed.
func why() Journey {
	return Journey{
		Name: "why", Title: "Why is my pod pending?", Columns: 112, Rows: 25,
		Ready: atWork(),
		Steps: []Step{
			run("koordctl why pod monthly-report -n analytics", 6*time.Second, "Unschedulable", "smallest change that helps"),
			run("koordctl explain pod monthly-report -n analytics -o jsonpath='{.status.fix.manifest}' > fix.yaml", 500*time.Millisecond),
			run("kubectl replace --force -f fix.yaml", time.Second, `pod/monthly-report replaced`),
			run("koordctl why pod monthly-report -n analytics", 4*time.Second, "✓ Bound"),
		},
	}
}
