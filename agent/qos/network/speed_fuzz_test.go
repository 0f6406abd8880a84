package network

import (
	"fmt"
	"math"
	"testing"

	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/nodeqos/networkqos"
)

// FuzzSpeed: a card's speed is what the kernel writes in megabits, and 0 of one that has none.
func FuzzSpeed(f *testing.F) {
	f.Add("10000\n", int32(10000))
	f.Add("-1\n", int32(-1))
	f.Add("", int32(0))
	f.Add("9223372036854775807", int32(math.MaxInt32))
	f.Add("4294967295\n", int32(math.MinInt32))
	f.Fuzz(func(t *testing.T, content string, megabits int32) {
		sys := kernelfs.NewMachine()
		r := Reconciler{options: Options{Sys: sys}}
		sys.Show("class/net/eth0/speed", content)
		if speed := r.speed("eth0"); speed < 0 || speed > math.MaxInt32*1_000_000 || speed%1_000_000 != 0 {
			t.Errorf("%q is %d bits per second", content, speed)
		}
		sys.Show("class/net/eth0/speed", fmt.Sprintf("%d\n", megabits))
		if got, want := r.speed("eth0"), networkqos.Rate(max(int64(megabits), 0))*1_000_000; got != want || r.speed("eth1") != 0 {
			t.Errorf("%d megabits are %d bits per second, want %d", megabits, got, want)
		}
	})
}
