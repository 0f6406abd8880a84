package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/api/extension"
)

// banded is a machine after some seconds on which the node used 6 CPUs all along: a service, a report and a job one each, an
// application half a CPU, and a pod that is not known any more one. The job began at a second.
func banded(at time.Time, seconds, jobBegan float64) *host.Snapshot {
	counter := func(cpus, seconds float64, memory int64) host.Counter {
		return host.Counter{CPU: time.Duration(cpus * seconds * float64(time.Second)), Memory: memory}
	}
	pods := []host.PodCounter{
		{UID: "gone", Counter: counter(1, seconds, 70)}, {UID: "report", Counter: counter(1, seconds, 90)}, {UID: "service", Counter: counter(1, seconds, 110)},
	}
	if seconds >= jobBegan {
		pods = append(pods, host.PodCounter{UID: "job", Counter: counter(1, seconds-jobBegan, 300)})
	}
	return &host.Snapshot{
		Time: at, Node: counter(6, seconds, 1000), Pods: pods,
		Applications: []host.ApplicationCounter{{Name: "proxy", Counter: counter(0.5, seconds, 10)}},
	}
}

func TestThePastIsAveragedByBand(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	bands := func() Bands {
		return Bands{
			Pods:         map[types.UID]extension.PriorityClass{"service": "", "report": extension.PriorityMid, "job": extension.PriorityBatch},
			Applications: map[string]extension.PriorityClass{"proxy": extension.PriorityProd},
		}
	}
	n, past := NewNode(Policy{Period: 10 * time.Second}), Past{}
	for second := 0; second <= 60; second += 10 {
		n.Observe(banded(start.Add(time.Duration(second)*time.Second), float64(second), 50))
		past.Observe(n, bands)
	}
	cpus := func(cpus float64, memory int64) Usage { return Usage{NanoCores: int64(cpus * 1e9), Memory: memory} }
	want := []Moment{
		{At: start.Add(30 * time.Second), Node: cpus(6, 1000), System: cpus(2.5, 720), Prod: cpus(1.5, 120), Mid: cpus(1, 90)},
		// In one of the three samples the job used a CPU; its memory was there in two.
		{
			At: start.Add(60 * time.Second), Node: cpus(6, 1000), System: Usage{NanoCores: 2_166_666_666, Memory: 520}, Prod: cpus(1.5, 120), Mid: cpus(1, 90),
			Batch: Usage{NanoCores: 333_333_333, Memory: 200},
		},
	}
	if diff := cmp.Diff(want, past.Moments()); diff != "" {
		t.Errorf("unexpected past (-want +got):\n%s", diff)
	}
}

func TestThePastIsBounded(t *testing.T) {
	none := func() Bands { return Bands{} }
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		// jump of the clock after an hour, and for how long the machine is watched after it.
		jump, after            time.Duration
		wantMoments            int
		wantOldest, wantNewest time.Duration
	}{
		"half an hour of steps":                           {0, 0, PastLength, 30*time.Minute + PastStep, time.Hour},
		"a pause of two hours leaves a gap":               {2 * time.Hour, time.Minute, PastLength, 32 * time.Minute, 3*time.Hour + time.Minute},
		"a clock that was set back forgets what is ahead": {-10 * time.Minute, time.Minute, 42, 30*time.Minute + PastStep, 51 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			n, past := NewNode(Policy{Period: 10 * time.Second}), Past{}
			var ran time.Duration
			watch := func(from, to time.Duration) {
				for at := from; at <= to; at += 10 * time.Second {
					n.Observe(banded(start.Add(at), ran.Seconds(), 1e9))
					past.Observe(n, none)
					ran += 10 * time.Second
				}
			}
			watch(0, time.Hour)
			if tc.jump < 0 {
				n = NewNode(Policy{Period: 10 * time.Second}) // another agent, for one does not take readings of before its latest
			}
			watch(time.Hour+tc.jump+10*time.Second, time.Hour+tc.jump+tc.after)
			got := past.Moments()
			if len(got) != tc.wantMoments {
				t.Fatalf("unexpected number of moments %d, want %d", len(got), tc.wantMoments)
			}
			for i := 1; i < len(got); i++ {
				if !got[i].At.After(got[i-1].At) {
					t.Errorf("moment %d is not after the one before", i)
				}
			}
			if oldest := got[0].At.Sub(start); oldest != tc.wantOldest {
				t.Errorf("unexpected oldest moment %s, want %s", oldest, tc.wantOldest)
			}
			if newest := got[len(got)-1].At.Sub(start); newest != tc.wantNewest {
				t.Errorf("unexpected newest moment %s, want %s", newest, tc.wantNewest)
			}
		})
	}
}
