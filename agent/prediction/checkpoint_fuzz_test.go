package prediction

import (
	"encoding/json"
	"testing"
	"time"

	"koordinator.sh/koord/decision/core/podrequest"
)

// FuzzRestore: whatever is in a checkpoint, what is predicted from it is neither negative nor more than there is.
func FuzzRestore(f *testing.F) {
	n, pods := learned()
	whole, err := json.Marshal(n.Checkpoint(learnedAt))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"at":"2026-01-02T03:04:00Z","prod":{"cpu":"AAAA","memory":"/////w=="},"pods":{"a":{"trained":"2026-01-02T03:04:00Z"}}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		var from Checkpoint
		if json.Unmarshal(content, &from) != nil {
			return
		}
		to := NewNode(Options{})
		_ = to.Restore(from, learnedAt) // what cannot be decoded is left out
		allocatable := podrequest.Amount{MilliCPU: 16000, Memory: 64 << 30}
		got := to.Estimate(learnedAt.Add(time.Minute), pods, allocatable)
		if got.Reclaimable.MilliCPU < 0 || got.Reclaimable.Memory < 0 || got.Reclaimable.MilliCPU > allocatable.MilliCPU || got.Reclaimable.Memory > allocatable.Memory {
			t.Errorf("reclaimable %+v of %+v", got.Reclaimable, allocatable)
		}
	})
}
