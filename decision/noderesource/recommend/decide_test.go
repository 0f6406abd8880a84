package recommend

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const mebi = 1 << 20

// observed is a container that used the same for some hours, sampled each minute.
func observed(hours int, cores float64, bytes float64) *Container {
	c := NewContainer()
	for minute := range hours * 60 {
		c.AddUsage(noon.Add(time.Duration(minute-hours*60+1)*time.Minute), cores, bytes, time.Minute)
	}
	return c
}

// near says whether a value is at most a bucket, 5 %, and a bit above what is wanted.
func near(got int64, want float64) bool {
	return float64(got) >= want*0.999 && float64(got) <= want*1.06
}

func TestRecommend(t *testing.T) {
	tests := map[string]struct {
		container            *Container
		containers           int
		wantCPU, wantMemory  float64 // targets
		wantUpper, wantLower float64 // of CPU
		wantConfident        bool
	}{
		"a week of 2 cores and 1000 MiB": {
			container: observed(7*24, 2, 1000*mebi), containers: 1,
			wantCPU: 2300, wantMemory: 1150 * mebi, wantUpper: 2300 * (1 + 1./7), wantLower: 2300, wantConfident: true,
		},
		"an hour leaves the bounds wide": {
			container: observed(1, 2, 1000*mebi), containers: 1,
			wantCPU: 2300, wantMemory: 1150 * mebi, wantUpper: 2300 * (1 + 24*60./59), wantLower: 2300 * math.Pow(1+0.001*24*60/59, -2),
		},
		"next to nothing gets the minimum": {
			container: observed(48, 0.001, mebi), containers: 1,
			wantCPU: 29, wantMemory: 250 * mebi, wantUpper: 29 * 1.5, wantLower: 29, wantConfident: true,
		},
		"the minimum is for the pod": {
			container: observed(48, 0.001, mebi), containers: 5,
			wantCPU: 29, wantMemory: 50 * mebi, wantUpper: 29 * 1.5, wantLower: 29, wantConfident: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			trace := &Trace{}
			got := test.container.Recommend(DefaultOptions(), test.containers, noon, trace)
			if silent := test.container.Recommend(DefaultOptions(), test.containers, noon, nil); silent != got {
				t.Errorf("with a trace %+v, without %+v", got, silent)
			}
			if !near(got.CPU.Target, test.wantCPU) || !near(got.Memory.Target, test.wantMemory) {
				t.Errorf("targets %d and %d, want about %g and %g", got.CPU.Target, got.Memory.Target, test.wantCPU, test.wantMemory)
			}
			if !near(got.CPU.Upper, test.wantUpper) || !near(got.CPU.Lower, test.wantLower) {
				t.Errorf("bounds of cpu %d to %d, want about %g to %g", got.CPU.Lower, got.CPU.Upper, test.wantLower, test.wantUpper)
			}
			if got.Confident() != test.wantConfident {
				t.Errorf("confidence is %g, want confident %t", got.Confidence, test.wantConfident)
			}
			if len(trace.CPU) == 0 || len(trace.Memory) == 0 {
				t.Error("there is no trace")
			}
		})
	}
}

func TestRunningOutOfMemoryRaisesTheTarget(t *testing.T) {
	c := observed(48, 1, 500*mebi)
	before := c.Recommend(DefaultOptions(), 1, noon, nil).Memory.Target
	if !c.AddOOM(noon, 2000*mebi) {
		t.Fatal("an event is no news")
	}
	if c.AddOOM(noon, 2000*mebi) {
		t.Error("the same event is news again")
	}
	memory := func(after time.Duration) int64 {
		return c.Recommend(DefaultOptions(), 1, noon.Add(after), nil).Memory.Target
	}
	if got := memory(0); got != 2400*mebi {
		t.Errorf("target is %d MiB, want 2400, a fifth more", got/mebi)
	}
	if got := memory(HalfLife); got != 2400*mebi {
		t.Errorf("a day later the target is %d MiB, want 2400 still", got/mebi)
	}
	if got := memory(2 * HalfLife); got != 1200*mebi {
		t.Errorf("two days later the target is %d MiB, want half", got/mebi)
	}
	if got := memory(20 * HalfLife); got != before {
		t.Errorf("much later the target is %d MiB, want %d as before", got/mebi, before/mebi)
	}
	small := observed(48, 1, 50*mebi)
	small.AddOOM(noon, 300*mebi)
	if got := small.Recommend(DefaultOptions(), 1, noon, nil).Memory.Target; got != 400*mebi {
		t.Errorf("target is %d MiB, want 400, 100 MiB more", got/mebi)
	}
}

func drawnContainer(t *rapid.T) *Container {
	c := NewContainer()
	at := noon
	for range rapid.IntRange(1, 40).Draw(t, "samples") {
		at = at.Add(time.Duration(rapid.IntRange(1, 600).Draw(t, "gap")) * time.Minute)
		c.AddUsage(at, rapid.Float64Range(0, 64).Draw(t, "cores"), rapid.Float64Range(0, 1<<36).Draw(t, "bytes"), time.Minute)
	}
	if rapid.Bool().Draw(t, "oom") {
		c.AddOOM(at, rapid.Float64Range(0, 1<<37).Draw(t, "oom bytes"))
	}
	return c
}

func TestBoundsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := drawnContainer(t).Recommend(DefaultOptions(), rapid.IntRange(0, 5).Draw(t, "containers"), noon, nil)
		for _, b := range []Bounds{got.CPU, got.Memory} {
			if b.Lower <= 0 || b.Lower > b.Target || b.Target > b.Upper {
				t.Fatalf("lower %d, target %d, upper %d", b.Lower, b.Target, b.Upper)
			}
		}
	})
}

func TestCheckpointsKeepTheRecommendation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawnContainer(t)
		checkpoint, err := c.Checkpoint("main")
		if err != nil {
			t.Fatal(err)
		}
		restored, err := Restore(checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		// Rounding may move a percentile across a gap between samples, but not the weight below it by a hundredth.
		near := func(name string, fraction float64, was, is func(float64) float64) {
			if low, got, high := was(fraction-0.01), is(fraction), was(min(fraction+0.01, 1)); got < low || got > high {
				t.Fatalf("%s percentile %g is %g after restoring, want from %g to %g", name, fraction, got, low, high)
			}
		}
		for _, fraction := range []float64{0.5, 0.9, 0.95, 0.98} {
			near("cpu", fraction, c.CPU.Percentile, restored.CPU.Percentile)
			near("memory", fraction, c.Memory.Percentile, restored.Memory.Percentile)
		}
		if restored.AddOOM(c.OOM, 1) {
			t.Fatal("an event from before the checkpoint is news after it")
		}
	})
}

func TestBrokenCheckpointsAreRefused(t *testing.T) {
	good, err := observed(1, 1, mebi).Checkpoint("main")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(){
		"no cpu":           func() { good.CPU = nil },
		"memory as cpu":    func() { good.CPU = good.Memory },
		"garbage":          func() { good.Memory = []byte("garbage") },
		"negative minutes": func() { good.ObservedMinutes = -1 },
	} {
		saved := good
		change()
		if _, err := Restore(good); err == nil {
			t.Errorf("%s: is restored", name)
		}
		good = saved
	}
}

func TestWhatIsNoUsageIsIgnored(t *testing.T) {
	c := NewContainer()
	for _, value := range []float64{-1, math.NaN(), math.Inf(1)} {
		c.AddUsage(noon, value, 1, time.Minute)
		c.AddUsage(noon, 1, value, time.Minute)
		c.AddOOM(noon, value)
	}
	c.AddUsage(noon, 1, 1, -time.Minute)
	if c.Known() || c.Minutes != 0 || !c.OOM.IsZero() {
		t.Errorf("something was learned: %+v", c)
	}
}
