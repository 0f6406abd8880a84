package printer

import (
	"io"
	"strings"
	"testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// evictionViews are what is printed of moves and evictions.
func evictionViews() map[string]view {
	return map[string]view{
		"explain-eviction":         func(w io.Writer, o Options) error { return EvictionExplanation(w, evictionFixture(), o) },
		"forecast-migrations":      func(w io.Writer, o Options) error { return MigrationForecast(w, migrationFixture(), o) },
		"forecast-migrations-wide": func(w io.Writer, o Options) error { o.Wide = true; return MigrationForecast(w, migrationFixture(), o) },
		"forecast-migrations-none": func(w io.Writer, o Options) error { return MigrationForecast(w, nothingMovesFixture(), o) },
	}
}

func migrationFixture() *diagnosticsv1alpha1.MigrationForecast {
	load := func(resource string, unit diagnosticsv1alpha1.Unit, before, after int64) diagnosticsv1alpha1.ForecastLoad {
		return diagnosticsv1alpha1.ForecastLoad{
			Resource: resource, Unit: unit, BeforeBasisPoints: before, AfterBasisPoints: after, LowBasisPoints: new(int64(4500)), HighBasisPoints: new(int64(7500)),
		}
	}
	node := func(name, class, then string, cpu, memory diagnosticsv1alpha1.ForecastLoad) diagnosticsv1alpha1.ForecastNode {
		return diagnosticsv1alpha1.ForecastNode{
			Name: name, Profile: "koord-descheduler", Pool: "shared", Class: class, ClassAfter: then, Resources: []diagnosticsv1alpha1.ForecastLoad{cpu, memory},
		}
	}
	return &diagnosticsv1alpha1.MigrationForecast{
		Message: "2 pods would move in 10 rounds (18m0s), the first in round 6", Rounds: 10, IntervalSeconds: 120, DryRun: true,
		Notes: []string{"load is taken to stay as it is"},
		Nodes: []diagnosticsv1alpha1.ForecastNode{
			node("worker-1", "high", "normal", load("cpu", diagnosticsv1alpha1.MilliCPU, 9200, 6810), load("memory", diagnosticsv1alpha1.Bytes, 5200, 4900)),
			node("worker-2", "low", "low", load("cpu", diagnosticsv1alpha1.MilliCPU, 1200, 3590), load("memory", diagnosticsv1alpha1.Bytes, 1000, 1300)),
			{Name: "worker-3", Pool: "shared", Class: "unknown", ClassAfter: "unknown", Problem: "its NodeMetric is 1h0m0s old, expired after 3m0s"},
		},
		Pools: []diagnosticsv1alpha1.ForecastPool{{Name: "shared", Underutilized: 1, Stop: "no node is overutilized: of 3 nodes, 1 underutilized, 0 overutilized"}, {Name: "prod", Prod: true, Overutilized: 1, Underutilized: 1}},
		Moves: []diagnosticsv1alpha1.ForecastMove{
			{
				Round: 6, Seconds: 600, Namespace: "shop", Name: "web-0", From: "worker-1", To: "worker-2", Alternatives: []string{"worker-4"},
				Reason: "node is overutilized, node cpu usage(92.00%)>threshold(75.00%)",
				Usage:  []diagnosticsv1alpha1.ForecastAmount{{Resource: "cpu", Amount: 3500, Unit: diagnosticsv1alpha1.MilliCPU}},
				Keys:   []diagnosticsv1alpha1.ForecastKey{{Name: "priorityClass", Value: "koord-batch"}, {Name: "score", Value: "1.20"}},
			},
			{Round: 7, Seconds: 720, Namespace: "shop", Name: "web-1", From: "worker-1", Reason: "node is overutilized"},
		},
		Stays: []diagnosticsv1alpha1.ForecastStay{{Namespace: "shop", Name: "cache", Node: "worker-1", Reason: "it has local storage: emptyDir data, and evictLocalStoragePods is false"}},
	}
}

func nothingMovesFixture() *diagnosticsv1alpha1.MigrationForecast {
	f := migrationFixture()
	f.Message, f.Moves, f.DryRun, f.Notes = "nothing moves in 10 rounds (18m0s): node pool shared: no node is underutilized", nil, false, nil
	return f
}

// TestLoadBarShowsWhatLeavesAndArrives: a bar has as many cells as asked for, and one for the threshold where there is one.
func TestLoadBarShowsWhatLeavesAndArrives(t *testing.T) {
	tests := map[string]struct {
		before, after int64
		high          *int64
		want          string
	}{
		"leaves":                 {9000, 5000, new(int64(7000)), "#####--|--."},
		"arrives":                {2000, 5000, new(int64(7000)), "##bbb..|..."},
		"as it was":              {5000, 5000, nil, "#####....."},
		"above the capacity":     {15000, 10000, new(int64(10000)), "##########|"},
		"nothing, and threshold": {0, 0, new(int64(0)), "|.........."},
		"far out of range":       {-5, 1 << 40, nil, "bbbbbbbbbb"},
	}
	for name, tc := range tests {
		got := loadBar(&diagnosticsv1alpha1.ForecastLoad{BeforeBasisPoints: tc.before, AfterBasisPoints: tc.after, HighBasisPoints: tc.high}, 10, Style{ASCII: true})
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if strings.Count(got, "|") > 1 {
			t.Errorf("%s: %q has more than one threshold", name, got)
		}
	}
}
