package suppression

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/waterfall"
)

func TestBudget(t *testing.T) {
	tests := map[string]struct {
		change   func(*Measurement)
		strategy *slov1alpha1.ResourceThresholdStrategy
		want     int64
	}{
		// 65 % of 32 are 20.8; services 10, application 2, system 23.5 - 18 - 2.5 = 3.
		"what services and the system leave of the threshold": {want: 5_800},
		"a reservation larger than the system's use counts":   {change: func(m *Measurement) { m.Reserved = 4_000 }, want: 4_800},
		"a low threshold leaves nothing": {
			strategy: &slov1alpha1.ResourceThresholdStrategy{CPUSuppressThresholdPercent: new(int64(40))}, want: 0,
		},
		"the minimum is left in any case": {
			strategy: &slov1alpha1.ResourceThresholdStrategy{CPUSuppressThresholdPercent: new(int64(40)), CPUSuppressMinPercent: new(int64(10))}, want: 3_200,
		},
		"a threshold of zero is a threshold": {
			strategy: &slov1alpha1.ResourceThresholdStrategy{CPUSuppressThresholdPercent: new(int64(0))}, want: 0,
		},
		"disturbed services are left a part of it": {
			change: func(m *Measurement) { m.Relief = Relief{Percent: 50, Why: "shop/web is disturbed"} }, want: 2_900,
		},
		"what disturbed services are left does not touch the minimum": {
			change:   func(m *Measurement) { m.Relief = Relief{Percent: 50} },
			strategy: &slov1alpha1.ResourceThresholdStrategy{CPUSuppressMinPercent: new(int64(10))}, want: 3_200,
		},
		"pods that were not measured count as system use": {
			change: func(m *Measurement) { m.Pods = m.Pods[1:] }, want: 5_800,
		},
		"pods that measure more than the node leave the system its reservation": {
			change: func(m *Measurement) { m.NodeUsed = 100 }, want: 7_800,
		},
		"negative figures count as nothing": {
			change: func(m *Measurement) { m.Pods[0].Used, m.NodeUsed = -5, -5 }, want: 20_800 - 4_000 - 2_000 - 1_000,
		},
		"a class that is not known is above best effort": {
			change: func(m *Measurement) { m.Pods[2].QoS = extension.QoSNone }, want: 800,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := busy()
			if tc.change != nil {
				tc.change(&m)
			}
			trace := &Trace{}
			got := BudgetOf(m, tc.strategy, trace)
			if got.Milli != tc.want {
				t.Errorf("budget %d, want %d:\n%+v", got.Milli, tc.want, trace.Budget)
			}
			if diff := cmp.Diff(got, BudgetOf(m, tc.strategy, nil)); diff != "" {
				t.Errorf("without a trace (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheTraceHasEveryOperand(t *testing.T) {
	trace := &Trace{}
	got := BudgetOf(busy(), nil, trace)
	pod := func(name string, milli int64, parts ...waterfall.Term) waterfall.Term {
		term := part(name, milli)
		term.Parts = parts
		return term
	}
	of := func(name string, term waterfall.Term) waterfall.Term {
		term.Object = &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: "shop", Name: name}
		return term
	}
	if diff := cmp.Diff(Budget{Milli: 5_800, BestEffortUsed: 8_000, AboveUsed: 10_000, ThresholdPercent: 65}, got); diff != "" {
		t.Errorf("budget (-want +got):\n%s", diff)
	}
	want := []waterfall.Term{
		{Name: "capacity", Operator: "start", Value: 32_000, Unit: "milliCPU"},
		{Name: "threshold", Operator: "times", Value: 65, Unit: "percent", Note: "of the capacity may be used by all together"},
		{Name: "podsUsed", Operator: "minus", Value: 10_000, Unit: "milliCPU", Note: "used by pods above best effort",
			Parts: []waterfall.Term{pod("LS", 6_000, of("web", pod("shop/web", 6_000))), pod("LSR", 4_000, of("db", pod("shop/db", 4_000)))}},
		{Name: "hostApplicationsUsed", Operator: "minus", Value: 2_000, Unit: "milliCPU", Note: "used by host applications above best effort",
			Parts: []waterfall.Term{pod("LS", 2_000, pod("registry", 2_000))}},
		{Name: "systemUsed", Operator: "minus", Value: 3_000, Unit: "milliCPU",
			Note:  "the node uses 23.5 cores, pods and host applications 20.5 of them; 1 reserved is less",
			Parts: []waterfall.Term{pod("systemUsed", 3_000), pod("reserved", 1_000)}},
		{Name: "floor", Operator: "max", Unit: "milliCPU", Note: "at least 0% of the capacity"},
		{Name: "budget", Operator: "result", Value: 5_800, Unit: "milliCPU"},
	}
	if diff := cmp.Diff(want, trace.Budget); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if !got.Exceeded() {
		t.Error("8 cores used of 5.8 are not said to exceed the budget")
	}
}

func TestManyPodsAreCountedAndFewListed(t *testing.T) {
	m := Measurement{Capacity: 100_000}
	for range 25 {
		m.Pods = append(m.Pods, Load{Namespace: "shop", Name: "web", QoS: extension.QoSLS, Used: 100})
	}
	trace := &Trace{}
	BudgetOf(m, nil, trace)
	term := trace.Budget[2].Parts[0]
	if term.Value != 2_500 || len(term.Parts) != maxParts || term.PartsOmitted != 15 {
		t.Errorf("%d milli-cores, %d listed, %d left out", term.Value, len(term.Parts), term.PartsOmitted)
	}
}

// TestMoreUseByServicesNeverLeavesMore is the property that suppression exists for.
func TestMoreUseByServicesNeverLeavesMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int64{200_000, math.MaxInt64}).Draw(t, "most")
		draw := func(label string) int64 { return rapid.Int64Range(0, most).Draw(t, label) }
		m := Measurement{
			Capacity: rapid.Int64Range(0, 500_000).Draw(t, "capacity"), Reserved: draw("reserved"), NodeUsed: draw("node"),
			Pods: []Load{{Name: "web", QoS: extension.QoSLS, Used: draw("web")}, {Name: "exec", QoS: extension.QoSBE, Used: draw("exec")}},
		}
		strategy := &slov1alpha1.ResourceThresholdStrategy{
			CPUSuppressThresholdPercent: new(rapid.Int64Range(0, 100).Draw(t, "threshold")), CPUSuppressMinPercent: new(rapid.Int64Range(0, 100).Draw(t, "minimum")),
		}
		before := BudgetOf(m, strategy, nil).Milli
		more := rapid.Int64Range(0, math.MaxInt64-m.Pods[0].Used).Draw(t, "more")
		m.Pods[0].Used += more
		if rapid.Bool().Draw(t, "the node uses more too") {
			m.NodeUsed = waterfall.Add(m.NodeUsed, more)
		}
		if after := BudgetOf(m, strategy, nil).Milli; after > before || after < 0 {
			t.Fatalf("%d before, %d after services use %d more", before, after, more)
		}
	})
}
