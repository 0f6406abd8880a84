package journey

import (
	_ "embed"
	"regexp"
	"time"
)

//go:embed quota.yaml
var quotas string

// quota asks who uses a quota, why a pod does not fit, and what would change that.
func quota() Journey {
	return Journey{
		Name: "quota", Title: "Who uses the quota?", Columns: 112, Rows: 32,
		Objects: quotas,
		Ready:   []Condition{{Command: []string{"tree", "quota", "--no-headers"}, Output: regexp.MustCompile(`research .* 38/40`)}},
		Steps: []Step{
			run("koordctl tree quota", 5*time.Second, "research", "team-a", "Waiting", "Lends"),
			run("koordctl explain quota team-a -n teams", 7*time.Second, "borrows 22 from team-b", "Pods that do not fit", "teams/train-"),
			run("koordctl whatif quota research -n teams --max cpu=60", 5*time.Second, "teams/train-"),
		},
	}
}
