package thirdparty_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

const (
	core = 1000
	gib  = 1 << 30
)

var (
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	args  = thirdparty.Args{
		Grain:             thirdparty.Amount{MilliCPU: core, Memory: 1 << 20},
		SharePercent:      50,
		Settle:            300 * time.Millisecond,
		Confirm:           5 * time.Second,
		HysteresisPercent: 5,
		Patience:          10 * time.Second,
		Interval:          time.Second,
	}
	// paired counts in units of a core with 2 GiB.
	paired = func() thirdparty.Args {
		a := args
		a.Grain, a.Paired = thirdparty.Amount{MilliCPU: core, Memory: 2 * gib}, true
		return a
	}()
)

// unitsOf is a number of units of paired.
func unitsOf(units int64) thirdparty.Amount { return of(units, 2*units) }

func of(cores, gibs int64) thirdparty.Amount {
	return thirdparty.Amount{MilliCPU: cores * core, Memory: gibs * gib}
}

// settled is a node that has been as it is for a minute, and the memory of a process that saw it.
func settled(t *testing.T, in thirdparty.Input) (thirdparty.Input, thirdparty.Memory) {
	t.Helper()
	in.Now = start
	memory := thirdparty.Decide(in, args, thirdparty.Memory{}, nil).Memory
	memory.SentAt, memory.Sent = time.Time{}, thirdparty.Amount{}
	in.Now = start.Add(time.Minute)
	return in, memory
}

func TestDecide(t *testing.T) {
	tests := map[string]struct {
		in           thirdparty.Input
		wantCapacity thirdparty.Amount
		wantTaken    thirdparty.Amount
		wantSend     bool
		wantReason   thirdparty.Reason
	}{
		"half of what is free, as far as the node has kept it from pods": {
			in:           thirdparty.Input{Origin: of(20, 40), Offered: of(12, 24), Pods: of(4, 8), Taken: of(8, 16)},
			wantCapacity: of(8, 16), wantTaken: of(8, 16), wantSend: true, wantReason: thirdparty.Share,
		},
		"nothing grows before the node offers less to pods": {
			in:           thirdparty.Input{Origin: of(20, 40), Offered: of(20, 40), Pods: of(4, 8)},
			wantCapacity: of(0, 0), wantTaken: of(8, 16), wantReason: thirdparty.Settling,
		},
		"pods that came take their part back at once": {
			in:           thirdparty.Input{Origin: of(20, 40), Offered: of(12, 24), Pods: of(15, 8), Taken: of(8, 16), Capacity: of(8, 16)},
			wantCapacity: of(2, 16), wantTaken: of(8, 16), wantSend: true, wantReason: thirdparty.Shrunk,
		},
		"services that came leave the engine nothing, and what it has allocated still counts": {
			in:           thirdparty.Input{Origin: of(0, 0), Offered: of(0, 0), Taken: of(8, 16), Capacity: of(8, 16), Allocated: of(6, 12)},
			wantCapacity: of(0, 0), wantTaken: of(8, 16), wantSend: true, wantReason: thirdparty.Exhausted,
		},
		"the engine has something waiting, so that it gets all that is free": {
			in: thirdparty.Input{Origin: of(20, 40), Offered: of(4, 8), Pods: of(4, 8), Taken: of(16, 32), Capacity: of(8, 16),
				EngineWaits: true},
			wantCapacity: of(16, 32), wantTaken: of(16, 32), wantSend: true, wantReason: thirdparty.Share,
		},
		"a pod waits for what is free, so that the engine keeps what it has allocated": {
			in: thirdparty.Input{Origin: of(20, 40), Offered: of(12, 24), Pods: of(4, 8), Taken: of(8, 16), Capacity: of(8, 16),
				Allocated: of(3, 6), Claimed: true},
			wantCapacity: of(3, 6), wantTaken: of(8, 16), wantSend: true, wantReason: thirdparty.Share,
		},
		"the smaller capacity is confirmed, so that pods get the rest": {
			in: thirdparty.Input{Origin: of(20, 40), Offered: of(12, 24), Pods: of(4, 8), Taken: of(8, 16), Capacity: of(3, 6),
				Allocated: of(3, 6), Claimed: true},
			wantCapacity: of(3, 6), wantTaken: of(3, 6), wantReason: thirdparty.Share,
		},
		"amounts are rounded down, never up": {
			in: thirdparty.Input{Origin: thirdparty.Amount{MilliCPU: 2001, Memory: 245_976_973_438}, EngineWaits: true,
				Taken: thirdparty.Amount{MilliCPU: 2001, Memory: 245_976_973_438}},
			wantCapacity: thirdparty.Amount{MilliCPU: 2000, Memory: 234_581 << 20}, wantTaken: thirdparty.Amount{MilliCPU: 2000, Memory: 234_581 << 20},
			wantSend: true, wantReason: thirdparty.Share,
		},
		"an engine that has allocated more than it may counts in full": {
			in:           thirdparty.Input{Origin: of(20, 40), Offered: of(12, 24), Pods: of(4, 8), Taken: of(8, 16), Capacity: of(8, 16), Allocated: of(30, 16)},
			wantCapacity: of(8, 16), wantTaken: of(30, 24), wantReason: thirdparty.Exhausted,
		},
		"a node that takes no work keeps what runs": {
			in:           thirdparty.Input{Origin: of(20, 40), Offered: of(12, 24), Taken: of(8, 16), Capacity: of(8, 16), Allocated: of(2, 4), Stopped: true},
			wantCapacity: of(2, 4), wantTaken: of(8, 16), wantSend: true, wantReason: thirdparty.Stopped,
		},
		"what another engine took is nobody's": {
			in:           thirdparty.Input{Origin: of(20, 40), Offered: of(2, 4), Others: of(10, 20), Taken: of(8, 16), EngineWaits: true, Pods: of(2, 4)},
			wantCapacity: of(8, 16), wantTaken: of(8, 16), wantSend: true, wantReason: thirdparty.Share,
		},
		"an engine gets no more than its node has": {
			in:           thirdparty.Input{Origin: of(20, 40), Offered: of(4, 8), Pods: of(4, 8), Taken: of(16, 32), Most: of(6, 64), EngineWaits: true},
			wantCapacity: of(6, 32), wantTaken: of(6, 32), wantSend: true, wantReason: thirdparty.Share,
		},
		"amounts below zero count as zero": {
			in:         thirdparty.Input{Origin: of(-1, -1), Offered: of(-5, 0), Pods: of(-1, 0), Allocated: of(-1, 0), Capacity: of(-1, -1)},
			wantReason: thirdparty.Share,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in, memory := settled(t, test.in)
			got := thirdparty.Decide(in, args, memory, nil)
			want := thirdparty.Verdict{Capacity: test.wantCapacity, Taken: test.wantTaken, Send: test.wantSend, Reason: test.wantReason}
			got.Wanted, got.Next, got.Memory = thirdparty.Amount{}, time.Time{}, thirdparty.Memory{}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(thirdparty.Memory{}), cmp.Comparer(func(a, b thirdparty.Memory) bool { return true })); diff != "" {
				t.Errorf("Decide() (-want +got):\n%s", diff)
			}
		})
	}
}
