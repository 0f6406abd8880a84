package queryhint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// random is an input of any nodes, also of amounts at the ends of their range.
func random(r *rand.Rand) Input {
	in := Input{Now: now, Settings: DefaultSettings(), Engine: "trino", Role: []Role{Worker, Cache}[r.IntN(2)], Seed: fmt.Sprint(r.Int())}
	in.Settings.MaxNodes = 1 + r.IntN(10)
	amount := func() int64 {
		if r.IntN(10) == 0 {
			return []int64{math.MaxInt64, math.MinInt64, 0, -1}[r.IntN(4)]
		}
		return r.Int64N(2000)
	}
	for i := range r.IntN(30) {
		n := Node{Name: fmt.Sprint("node-", i), Closed: r.IntN(5) == 0, Workers: r.Int32N(3), Caches: r.Int32N(3)}
		n.Memory = Memory{Capacity: amount(), Used: amount(), Measured: now.Add(time.Duration(r.IntN(400)-200) * time.Second)}
		if r.IntN(2) == 0 {
			n.Growth = new(amount())
		}
		in.Nodes = append(in.Nodes, n)
	}
	return in
}

func TestProperties(t *testing.T) {
	for seed := range uint64(2000) {
		in := random(rand.New(rand.NewPCG(seed, 1)))
		var trace Trace
		traced := Decide(in, &trace)
		if diff := cmp.Diff(Decide(in, nil), traced); diff != "" {
			t.Fatalf("seed %d: with a trace (-without +with):\n%s", seed, diff)
		}
		if (len(traced.Nodes) == 0) != (traced.Reason != "") || len(traced.Nodes) > in.Settings.MaxNodes {
			t.Fatalf("seed %d: %d nodes, reason %q", seed, len(traced.Nodes), traced.Reason)
		}
		byName := map[string]Node{}
		for _, n := range in.Nodes {
			byName[n.Name] = n
		}
		for _, name := range traced.Nodes {
			n := byName[name]
			predicted := float64(n.Used)
			if n.Growth != nil {
				predicted += math.Max(float64(*n.Growth), 0)
			}
			if n.Closed || predicted >= 0.8*float64(n.Capacity)+1 || in.Role == Cache && n.Workers == 0 {
				t.Fatalf("seed %d: node %+v is preferred", seed, n)
			}
		}
		told := len(trace.Preferred)
		for _, left := range trace.LeftOut {
			told += int(left.Count)
		}
		if told != len(in.Nodes) {
			t.Fatalf("seed %d: the trace tells of %d of %d nodes", seed, told, len(in.Nodes))
		}
		if _, err := trace.Hint(in, traced); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzShare(f *testing.F) {
	f.Add(int64(1), int64(2))
	f.Add(int64(math.MaxInt64), int64(1))
	f.Fuzz(func(t *testing.T, part, total int64) {
		if total <= 0 {
			t.Skip()
		}
		if got := share(part, total); got < 0 || got > most {
			t.Errorf("share of %d in %d is %d", part, total, got)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	in := Input{Now: now, Settings: DefaultSettings(), Engine: "trino", Role: Worker, Seed: "x"}
	for i := range 5000 {
		in.Nodes = append(in.Nodes, node(fmt.Sprint("node-", i), int64(i%100), runs(int32(i%4), 0)))
	}
	b.ReportAllocs()
	for b.Loop() {
		Decide(in, nil)
	}
}
