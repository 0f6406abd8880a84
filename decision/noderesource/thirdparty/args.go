package thirdparty

import "time"

// Args bound how fast and how often an engine's capacity follows. The zero value follows at once.
type Args struct {
	// Grain is what the engine counts in, such as 1000 milli-cores and 1 MiB; amounts are rounded down to it. At least 1.
	Grain Amount
	// Paired is true for an engine that counts in one unit, which has the Grain of both resources, such as a CPU of Slurm with its memory. Amounts
	// are rounded down to as many of both.
	Paired bool
	// SharePercent of what is free belongs to the engine while nobody waits for it; 0 to 100.
	SharePercent int64
	// Settle is how long a node must have offered less to pods before the engine gets the difference. It covers the time from a
	// scheduler's view of the node to the binding of the pod being seen.
	Settle time.Duration
	// Confirm is how long a capacity that was sent may take to be confirmed, during which both the old and the new one count.
	Confirm time.Duration
	// Hysteresis is the change of the capacity, in percent of it, up to which it waits for Patience; changes that are due because
	// pods or services need the resources never wait.
	HysteresisPercent int64
	// Patience is after how long since the last change small changes are made, too.
	Patience time.Duration
	// Interval is the least time between two changes of one node, for those that may wait.
	Interval time.Duration
}
