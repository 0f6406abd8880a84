//go:build !linux

package workload

import "time"

// spend keeps the calling thread busy for so long: its CPU time is not known here.
func spend(amount time.Duration) {
	for end := time.Now().Add(amount); time.Now().Before(end); {
		work()
	}
}
