package prediction

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

var start = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const (
	core = int64(1e9)
	gib  = int64(1 << 30)
)

func sample(uid types.UID, band extension.PriorityClass, cores, gibs int64) Sample {
	return Sample{UID: uid, Band: band, Usage: metrics.Usage{NanoCores: cores * core, Memory: gibs * gib}}
}

func pod(uid types.UID, cores, gibs int64, age time.Duration) Pod {
	return Pod{
		UID: uid, Band: extension.PriorityProd, Started: start.Add(-age),
		Request: podrequest.Amount{MilliCPU: cores * 1000, Memory: gibs * gib},
	}
}

func TestEstimate(t *testing.T) {
	node := podrequest.Amount{MilliCPU: 32000, Memory: 64 * gib}
	old, young := 25*time.Hour, 23*time.Hour
	// Peaks of something that always uses so many cores and GiB.
	one, two := peakOf(t, 1, 1), peakOf(t, 2, 2)
	tests := map[string]struct {
		train           []Sample
		system          metrics.Usage
		pods            []Pod
		wantReclaimable podrequest.Amount
		wantPeak        podrequest.Amount
		wantCold        int
	}{
		"nothing was learned": {
			pods: []Pod{pod("a", 8, 16, old)}, wantPeak: podrequest.Amount{MilliCPU: 8000, Memory: 16 * gib}, wantCold: 1,
		},
		"a service that uses a quarter": {
			train: []Sample{sample("a", extension.PriorityProd, 2, 2)}, pods: []Pod{pod("a", 8, 16, old)},
			wantReclaimable: less(less(podrequest.Amount{MilliCPU: 8000, Memory: 16 * gib}, two), idle(2)), wantPeak: two,
		},
		"a young pod is taken to need all of its request": {
			train: []Sample{sample("a", extension.PriorityProd, 2, 2)}, pods: []Pod{pod("a", 8, 16, young)},
			wantPeak: podrequest.Amount{MilliCPU: 8000, Memory: 16 * gib}, wantCold: 1,
		},
		"what uses more than it requests has nothing to give": {
			train: []Sample{sample("a", extension.PriorityProd, 2, 2)}, pods: []Pod{pod("a", 1, 1, old)}, wantPeak: two,
		},
		"pods outside of all bands and the system need theirs": {
			train:           []Sample{sample("a", extension.PriorityProd, 2, 2), sample("b", extension.PriorityNone, 1, 1)},
			system:          metrics.Usage{NanoCores: core, Memory: gib},
			pods:            []Pod{pod("a", 8, 16, old)},
			wantReclaimable: less(podrequest.Amount{MilliCPU: 8000, Memory: 16 * gib}, two.Add(one).Add(one)), wantPeak: two,
		},
		"batch pods are not predicted": {
			train:    []Sample{sample("b", extension.PriorityBatch, 2, 2)},
			pods:     []Pod{{UID: "b", Band: extension.PriorityBatch, Request: podrequest.Amount{MilliCPU: 8000}}},
			wantPeak: idle(1),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := NewNode(Options{})
			if test.train != nil {
				for minute := range 60 {
					n.Train(start.Add(time.Duration(minute-60)*time.Minute), TrainInterval, test.train, test.system)
				}
			}
			got := n.Estimate(start, test.pods, node)
			if diff := cmp.Diff(test.wantReclaimable, got.Reclaimable); diff != "" {
				t.Errorf("reclaimable (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantPeak, got.Peak); diff != "" {
				t.Errorf("peak (-want +got):\n%s", diff)
			}
			if got.ColdPods != test.wantCold {
				t.Errorf("%d cold pods, want %d", got.ColdPods, test.wantCold)
			}
		})
	}
}

// idle is the peak of so many classes that use nothing: the end of the first bucket, with the margin.
func idle(classes int64) podrequest.Amount {
	return podrequest.Amount{MilliCPU: 28 * classes, Memory: 5767168 * classes}
}

// peakOf is the peak of something that always uses the same.
func peakOf(t *testing.T, cores, gibs int64) podrequest.Amount {
	t.Helper()
	n := NewNode(Options{})
	n.TrainPod(start, TrainInterval, sample("a", extension.PriorityProd, cores, gibs))
	peak := n.peak(&n.pods["a"].model)
	if low := cores * 1100; peak.MilliCPU < low || peak.MilliCPU > low*106/100+30 {
		t.Fatalf("peak of %d cores is %dm, want it 10%% and at most one bucket above", cores, peak.MilliCPU)
	}
	if low := gibs * gib * 11 / 10; peak.Memory < low || peak.Memory > low*106/100+6<<20 {
		t.Fatalf("peak of %d GiB is %d, want it 10%% and at most one bucket above", gibs, peak.Memory)
	}
	return peak
}

func TestClassesThatWereNeverTrainedGiveNothing(t *testing.T) {
	n := NewNode(Options{})
	n.TrainPod(start, TrainInterval, sample("a", extension.PriorityProd, 1, 1))
	got := n.Estimate(start, []Pod{pod("a", 8, 16, 48*time.Hour)}, podrequest.Amount{MilliCPU: 32000, Memory: 64 * gib})
	if got.ByPod.Reclaimable.MilliCPU == 0 {
		t.Error("the pod itself has nothing to give, although it is known")
	}
	if got.Reclaimable != (podrequest.Amount{}) {
		t.Errorf("reclaimable = %v without knowing what the node's other pods and the system need, want nothing", got.Reclaimable)
	}
}

// TestModelsOfTheFutureAreForgotten: the clock was set back since, and they would be kept until it is there again.
func TestModelsOfTheFutureAreForgotten(t *testing.T) {
	n := NewNode(Options{})
	n.Train(start.Add(24*time.Hour), TrainInterval, []Sample{sample("gone", extension.PriorityProd, 1, 1), sample("runs", extension.PriorityProd, 1, 1)}, metrics.Usage{})
	n.Train(start, TrainInterval, []Sample{sample("runs", extension.PriorityProd, 1, 1)}, metrics.Usage{})
	if n.Knows("gone") || !n.Knows("runs") {
		t.Errorf("the pod that went is known: %v, the one that runs: %v", n.Knows("gone"), n.Knows("runs"))
	}
}

func TestModelsOfPodsThatWentAreForgotten(t *testing.T) {
	n := NewNode(Options{})
	n.Train(start, TrainInterval, []Sample{sample("a", extension.PriorityProd, 1, 1)}, metrics.Usage{})
	n.Train(start.Add(29*time.Minute), TrainInterval, nil, metrics.Usage{})
	if !n.Knows("a") {
		t.Error("a pod is forgotten that was trained 29 minutes ago")
	}
	n.Train(start.Add(31*time.Minute), TrainInterval, nil, metrics.Usage{})
	if n.Knows("a") {
		t.Error("a pod is remembered that was trained 31 minutes ago")
	}
}

func TestEstimateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := NewNode(Options{ColdStart: time.Hour, SafetyMarginPercent: rapid.Int64Range(-5, 50).Draw(t, "margin")})
		amount := rapid.Int64Range(0, 64)
		uids := []types.UID{"a", "b", "c"}
		bands := []extension.PriorityClass{extension.PriorityProd, extension.PriorityNone, extension.PriorityMid, extension.PriorityBatch}
		for minute := range rapid.IntRange(0, 30).Draw(t, "minutes") {
			var samples []Sample
			for _, uid := range uids {
				samples = append(samples, sample(uid, rapid.SampledFrom(bands).Draw(t, "band"), amount.Draw(t, "cores"), amount.Draw(t, "gib")))
			}
			n.Train(start.Add(time.Duration(minute)*time.Minute), TrainInterval, samples, metrics.Usage{NanoCores: amount.Draw(t, "system") * core})
		}
		var pods []Pod
		var requested podrequest.Amount
		for _, uid := range uids {
			p := pod(uid, amount.Draw(t, "request"), amount.Draw(t, "request"), time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "age")))
			pods, requested = append(pods, p), requested.Add(p.Request)
		}
		allocatable := podrequest.Amount{MilliCPU: amount.Draw(t, "allocatable") * 1000, Memory: amount.Draw(t, "allocatable") * gib}
		got := n.Estimate(start.Add(time.Hour), pods, allocatable)
		for _, limit := range []podrequest.Amount{requested, allocatable} {
			if got.Reclaimable.MilliCPU > limit.MilliCPU || got.Reclaimable.Memory > limit.Memory {
				t.Fatalf("reclaimable %v is more than %v", got.Reclaimable, limit)
			}
		}
		if got.Reclaimable.MilliCPU < 0 || got.Reclaimable.Memory < 0 || got.Peak.MilliCPU < 0 || got.Peak.Memory < 0 {
			t.Fatalf("negative: %+v", got)
		}
	})
}
