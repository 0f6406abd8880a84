package suppression

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cfs"
	"koordinator.sh/koord/decision/core/cpuset"
)

func TestDecide(t *testing.T) {
	topology := machine(t, 2, 8)
	lse := CPUs{Topology: topology, Excluded: []Exclusion{{"LSE pods", parse(t, "0-3")}}}
	tests := map[string]struct {
		change    func(*Input)
		wantCPUs  string
		wantQuota int64
		wantHold  string
	}{
		"CPUs are taken, and an old quota is lifted": {wantCPUs: "4-7,16-17", wantQuota: -1},
		"a quota is set, and all CPUs are given back": {
			change:   func(in *Input) { in.Strategy = enabled(slov1alpha1.CPUCfsQuotaPolicy) },
			wantCPUs: "4-31", wantQuota: 580_000,
		},
		"a policy that is not known is cpuset":         {change: func(in *Input) { in.Strategy = enabled("magic") }, wantCPUs: "4-7,16-17", wantQuota: -1},
		"switched off, all CPUs and no quota":          {change: func(in *Input) { in.Strategy.Enable = new(false) }, wantCPUs: "4-31", wantQuota: -1},
		"without a strategy, all CPUs and no quota":    {change: func(in *Input) { in.Strategy = nil }, wantCPUs: "4-31", wantQuota: -1},
		"switched off while nothing is measured":       {change: func(in *Input) { in.Strategy, in.Measurement = nil, Measurement{} }, wantCPUs: "4-31", wantQuota: -1},
		"an old measurement changes nothing":           {change: func(in *Input) { in.Now = noon.Add(3 * time.Second) }, wantQuota: 700_000, wantHold: "the measurement is 3s old, more than two intervals of 1s"},
		"a node without a capacity changes nothing":    {change: func(in *Input) { in.Measurement.Capacity = 0 }, wantQuota: 700_000, wantHold: "the capacity of the node is not known"},
		"nothing measured so far changes nothing":      {change: func(in *Input) { in.Measurement = Measurement{} }, wantQuota: 700_000, wantHold: "nothing was measured"},
		"without a topology the present CPUs are held": {change: func(in *Input) { in.CPUs = CPUs{} }, wantQuota: -1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Now: noon, Strategy: enabled(""), Measurement: busy(), CPUs: lse, CurrentCPUs: topology.CPUs, CurrentQuota: 700_000}
			if tc.change != nil {
				tc.change(&in)
			}
			got := Decide(in, nil)
			if traced := Decide(in, &Trace{}); !reflect.DeepEqual(traced, got) {
				t.Errorf("with a trace %+v, without %+v", traced, got)
			}
			if got.CPUs.List != tc.wantCPUs || got.Quota.Quota != tc.wantQuota || got.Hold != tc.wantHold {
				t.Errorf("cpus %q quota %d hold %q, want %q %d %q", got.CPUs.List, got.Quota.Quota, got.Hold, tc.wantCPUs, tc.wantQuota, tc.wantHold)
			}
			if (got.CPUs.List == "") != (got.CPUs.Hold != "") {
				t.Errorf("no CPUs and no reason, or both: %+v", got.CPUs)
			}
		})
	}
}

func TestLeastMilli(t *testing.T) {
	for policy, want := range map[slov1alpha1.CPUSuppressPolicy]int64{"": 2_000, slov1alpha1.CPUSetPolicy: 2_000, slov1alpha1.CPUCfsQuotaPolicy: 20} {
		if got := LeastMilli(enabled(policy)); got != want {
			t.Errorf("policy %q leaves %d, want %d", policy, got, want)
		}
	}
}

// TestAnyDay: whatever services do, round after round, best-effort pods grow by a tenth of the node at most, are never beyond
// their bound, and a node on which nothing changes is written to no more.
func TestAnyDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		topology := machine(t, rapid.IntRange(1, 2).Draw(t, "sockets"), rapid.IntRange(2, 16).Draw(t, "cores"))
		size := topology.CPUs.Len()
		whole := int64(size) * 1000
		in := Input{
			Now: noon, Strategy: enabled(rapid.SampledFrom([]slov1alpha1.CPUSuppressPolicy{slov1alpha1.CPUSetPolicy, slov1alpha1.CPUCfsQuotaPolicy}).Draw(t, "policy")),
			Measurement: Measurement{Observation: fresh(), Capacity: whole}, CPUs: CPUs{Topology: topology, LSR: drawSet(t, "lsr", size)},
			CurrentCPUs: topology.CPUs, CurrentQuota: cfs.Quota(whole),
		}
		for range 10 {
			used := rapid.Int64Range(0, whole).Draw(t, "services")
			in.Measurement.NodeUsed, in.Measurement.Pods = used, []Load{{Name: "web", QoS: extension.QoSLS, Used: used}}
			cpus, quota := round(t, in)
			in.CurrentCPUs, in.CurrentQuota = cpus, quota
		}
		for range 12 {
			in.CurrentCPUs, in.CurrentQuota = round(t, in)
		}
		if cpus, quota := round(t, in); !cpus.Equal(in.CurrentCPUs) || quota != in.CurrentQuota {
			t.Fatalf("nothing changes, and yet from %s and %d to %s and %d", in.CurrentCPUs, in.CurrentQuota, cpus, quota)
		}
	})
}

// round carries out one decision, and checks it.
func round(t *rapid.T, in Input) (cpuset.CPUSet, int64) {
	got := Decide(in, nil)
	cpus, size := in.CurrentCPUs, in.CPUs.Topology.CPUs.Len()
	if got.CPUs.Hold == "" {
		cpus = got.CPUs.CPUs
	}
	if got.Policy == slov1alpha1.CPUCfsQuotaPolicy {
		bound := max(cfs.Quota(got.Budget.Milli), LeastQuota) + capacity.Percent(cfs.Quota(in.Measurement.Capacity), 1)
		if got.Quota.Quota > bound || in.CurrentQuota > 0 && got.Quota.Quota-in.CurrentQuota > capacity.Percent(cfs.Quota(in.Measurement.Capacity), 10) {
			t.Fatalf("from %d to %d with a bound of %d", in.CurrentQuota, got.Quota.Quota, bound)
		}
		return cpus, got.Quota.Quota
	}
	if got.Quota.Quota != cfs.Unlimited {
		t.Fatalf("a quota of %d beside CPUs", got.Quota.Quota)
	}
	if bound := max((got.Budget.Milli+999)/1000, LeastCPUs); int64(cpus.Len()) > bound || cpus.Len()-in.CurrentCPUs.Len() > (size+9)/10 {
		t.Fatalf("from %d to %d CPUs with a bound of %d", in.CurrentCPUs.Len(), cpus.Len(), bound)
	}
	return cpus, got.Quota.Quota
}
