package loadaware

import (
	"time"
)

// Profile says which usage is compared with which thresholds.
type Profile int

const (
	// Plain compares the latest usage of the node with usageThresholds.
	Plain Profile = iota
	// Prod compares the usage of prod pods with prodUsageThresholds; for prod pods, when such thresholds are set.
	Prod
	// Aggregated compares a percentile over a window with aggregated.usageThresholds, when such thresholds are set.
	Aggregated
)

// Input of Filter and Score.
type Input struct {
	Policy *Policy
	// Node was digested by the same policy.
	Node *Node
	// Pod was estimated by the same policy.
	Pod Estimate
	Now time.Time
}
