package burst

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cfs"
	"koordinator.sh/koord/decision/core/freshness"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func config(change func(*Config)) Config {
	out := ConfigOf(&slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstAuto}, nil)
	if change != nil {
		change(&out)
	}
	return out
}

var (
	idle       = Pool{State: Idle, Reason: "there is room"}
	cooling    = Pool{State: Cooling, Reason: "there is little room"}
	overloaded = Pool{State: Overloaded, Reason: "there is no room"}
)

func TestConfigOf(t *testing.T) {
	node := &slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstOnly, CPUBurstPercent: new(int64(500))}
	pod := &slov1alpha1.CPUBurstConfig{CFSQuotaBurstPercent: new(int64(200)), CFSQuotaBurstPeriodSeconds: new(int64(0))}
	tests := map[string]struct {
		node, pod *slov1alpha1.CPUBurstConfig
		want      Config
	}{
		"nothing is set":                  {nil, nil, Config{slov1alpha1.CPUBurstNone, 1000, 300, -1}},
		"the node's over the defaults":    {node, nil, Config{slov1alpha1.CPUBurstOnly, 500, 300, -1}},
		"the pod's over the node's":       {node, pod, Config{slov1alpha1.CPUBurstOnly, 500, 200, 0}},
		"a pod that turns its burst off":  {node, &slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstNone}, Config{slov1alpha1.CPUBurstNone, 500, 300, -1}},
		"a pod that turns its burst on":   {nil, &slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstAuto}, Config{slov1alpha1.CPUBurstAuto, 1000, 300, -1}},
		"zero is a value, not an absence": {nil, &slov1alpha1.CPUBurstConfig{CPUBurstPercent: new(int64(0))}, Config{slov1alpha1.CPUBurstNone, 0, 300, -1}},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(tc.want, ConfigOf(tc.node, tc.pod)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for class, want := range map[extension.QoSClass]bool{
		extension.QoSLSE: false, extension.QoSLSR: false, extension.QoSBE: false, extension.QoSLS: true, extension.QoSNone: true, extension.QoSSystem: true,
	} {
		if Burstable(class) != want {
			t.Errorf("class %q bursts: %v", class, !want)
		}
	}
}

func TestPoolOf(t *testing.T) {
	pods := func(lsrUsed int64) []PoolPod {
		return []PoolPod{{QoS: extension.QoSLSR, Requested: 8_000, Used: lsrUsed}, {QoS: extension.QoSLS, Requested: 4_000, Used: 2_000}}
	}
	tests := map[string]struct {
		change func(*PoolInput)
		want   PoolState
	}{
		"3 of 8 shared cores are idle":           {nil, Idle},
		"5 of 8 are overloaded":                  {func(in *PoolInput) { in.Pods = pods(5_000) }, Overloaded},
		"exactly half is overloaded":             {func(in *PoolInput) { in.Pods = pods(6_000) }, Overloaded},
		"nine tenths of the threshold cool down": {func(in *PoolInput) { in.Pods = pods(6_400) }, Cooling},
		"a little less is idle":                  {func(in *PoolInput) { in.Pods = pods(6_401) }, Idle},
		"use by best effort does not count": {func(in *PoolInput) {
			in.NodeUsed, in.Pods = 16_000, append(pods(7_000), PoolPod{QoS: extension.QoSBE, Used: 6_000})
		}, Idle},
		"LSE pods take CPUs from the pool, too": {func(in *PoolInput) { in.Pods[0].QoS = extension.QoSLSE }, Idle},
		"a pool without CPUs is full":           {func(in *PoolInput) { in.Pods[0].Requested = 16_000 }, Overloaded},
		"a threshold of its own":                {func(in *PoolInput) { in.ThresholdPercent = new(int64(30)) }, Overloaded},
		"a threshold beyond everything":         {func(in *PoolInput) { in.Pods, in.ThresholdPercent = pods(0), new(int64(10_000_000)) }, Idle},
		"an old measurement":                    {func(in *PoolInput) { in.Now = noon.Add(time.Minute) }, Unmeasured},
		"a node without a capacity":             {func(in *PoolInput) { in.Capacity = 0 }, Unmeasured},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := PoolInput{Observation: freshness.Observation{At: noon, Period: time.Second}, Now: noon, Capacity: 16_000, NodeUsed: 10_000, Pods: pods(7_000)}
			if tc.change != nil {
				tc.change(&in)
			}
			if got := PoolOf(in); got.State != tc.want || got.Reason == "" {
				t.Errorf("%+v, want %s", got, tc.want)
			}
		})
	}
}

func TestSavedTime(t *testing.T) {
	in := PodInput{
		Now: noon, Config: config(nil), Pool: idle, Limit: 8_000, CurrentQuota: 800_000,
		Containers: []Container{{Name: "a", ID: "1", Limit: 5_000, CurrentQuota: 500_000}, {Name: "b", ID: "2", Limit: 3_000, CurrentQuota: 300_000}},
	}
	burst := func(in PodInput) []int64 {
		got := Step(in)
		return []int64{got.Containers[0].BurstMicros, got.Containers[1].BurstMicros, got.BurstMicros}
	}
	tests := map[string]struct {
		change func(*PodInput)
		want   []int64
	}{
		"ten times the limit, and the pod the sum":             {nil, []int64{5_000_000, 3_000_000, 8_000_000}},
		"no more than the quota where the kernel refuses more": {func(in *PodInput) { in.BurstWithinQuota = true }, []int64{500_000, 300_000, 800_000}},
		"nothing when only the quota may grow":                 {func(in *PodInput) { in.Config.Policy = slov1alpha1.CFSQuotaBurstOnly }, []int64{0, 0, 0}},
		"nothing when burst is off":                            {func(in *PodInput) { in.Config.Policy = slov1alpha1.CPUBurstNone }, []int64{0, 0, 0}},
		"a percentage of zero":                                 {func(in *PodInput) { in.Config.CPUBurstPercent = 0 }, []int64{0, 0, 0}},
		"a container without a limit leaves the pod without":   {func(in *PodInput) { in.Limit, in.Containers[1].Limit = 0, 0 }, []int64{5_000_000, 0, 0}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := in
			in.Containers = append([]Container(nil), in.Containers...)
			if tc.change != nil {
				tc.change(&in)
			}
			if diff := cmp.Diff(tc.want, burst(in)); diff != "" {
				t.Errorf("burst in microseconds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuotaOperations(t *testing.T) {
	spent := map[string]Bucket{"1": {Capacity: capacityOf(config(func(c *Config) { c.PeriodSeconds = 60 })), Tokens: -1, UpdatedAt: noon.Add(-time.Second)}}
	tests := map[string]struct {
		pool          Pool
		throttled     bool
		current       int64
		change        func(*PodInput)
		wantOperation Operation
		want          int64
	}{
		"throttled, and there is room":           {pool: idle, throttled: true, current: 100_000, wantOperation: Grow, want: 120_000},
		"never beyond the ceiling":               {pool: idle, throttled: true, current: 290_000, wantOperation: Grow, want: 300_000},
		"not throttled":                          {pool: idle, current: 120_000, wantOperation: Keep, want: 120_000},
		"throttled while the pool cools down":    {pool: cooling, throttled: true, current: 120_000, wantOperation: Keep, want: 120_000},
		"throttled while nothing is measured":    {pool: Pool{State: Unmeasured}, throttled: true, current: 120_000, wantOperation: Keep, want: 120_000},
		"the pool is overloaded":                 {pool: overloaded, current: 200_000, wantOperation: Shrink, want: 160_000},
		"overloaded, and throttled all the same": {pool: overloaded, throttled: true, current: 200_000, wantOperation: Shrink, want: 160_000},
		"never below the limit":                  {pool: overloaded, current: 110_000, wantOperation: Shrink, want: 100_000},
		"a quota below the limit is brought up":  {pool: overloaded, current: 50_000, wantOperation: Shrink, want: 100_000},
		"the tokens are used up": {
			pool: idle, throttled: true, current: 200_000, wantOperation: Shrink, want: 160_000,
			change: func(in *PodInput) { in.Config.PeriodSeconds, in.Buckets = 60, spent },
		},
		"burst is switched off": {
			pool: idle, throttled: true, current: 250_000, wantOperation: Reset, want: 100_000,
			change: func(in *PodInput) { in.Config.Policy = slov1alpha1.CPUBurstNone },
		},
		"on CPUs that are worth 1.2 the quota is smaller": {
			pool: overloaded, current: 100_000, wantOperation: Shrink, want: 83_334,
			change: func(in *PodInput) { in.NormalizationPercent = 120 },
		},
		"a ceiling below the limit is the limit": {
			pool: idle, throttled: true, current: 100_000, wantOperation: Grow, want: 100_000,
			change: func(in *PodInput) { in.Config.QuotaBurstPercent = 50 },
		},
		"no quota in force is left alone": {pool: idle, throttled: true, current: -1, wantOperation: Leave, want: -1},
		"a container without a limit": {
			pool: idle, throttled: true, current: -1, wantOperation: Leave, want: -1,
			change: func(in *PodInput) { in.Containers[0].Limit = 0 },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := PodInput{
				Now: noon, Config: config(nil), Pool: tc.pool, Limit: 1_000, CurrentQuota: tc.current,
				Containers: []Container{{Name: "main", ID: "1", Limit: 1_000, CurrentQuota: tc.current, Throttled: tc.throttled}},
			}
			if tc.change != nil {
				tc.change(&in)
			}
			got := Step(in)
			if c := got.Containers[0]; c.Operation != tc.wantOperation || c.Quota != tc.want || c.Reason == "" {
				t.Errorf("%+v, want %s to %d", c, tc.wantOperation, tc.want)
			}
			if tc.want > 0 && got.Quota != tc.want {
				t.Errorf("the pod has %d, its only container %d", got.Quota, tc.want)
			}
		})
	}
}

func TestTheOrderOfWrites(t *testing.T) {
	in := PodInput{Now: noon, Config: config(nil), Pool: idle, Limit: 2_000, CurrentQuota: 200_000, Containers: []Container{
		{Name: "grows", ID: "1", Limit: 1_000, CurrentQuota: 100_000, Throttled: true}, {Name: "stays", ID: "2", Limit: 1_000, CurrentQuota: 100_000},
	}}
	want := []Write{{Quota: 220_000}, {Container: "grows", ID: "1", Quota: 120_000}}
	if diff := cmp.Diff(want, Step(in).Writes); diff != "" {
		t.Errorf("growing, the pod is first (-want +got):\n%s", diff)
	}
	in.Pool, in.CurrentQuota = overloaded, 300_000
	in.Containers[0].CurrentQuota, in.Containers[1].CurrentQuota = 200_000, 100_000
	want = []Write{{Container: "grows", ID: "1", Quota: 160_000}, {Quota: 260_000}}
	if diff := cmp.Diff(want, Step(in).Writes); diff != "" {
		t.Errorf("shrinking, the pod is last (-want +got):\n%s", diff)
	}
}

func TestTokens(t *testing.T) {
	c := config(func(c *Config) { c.PeriodSeconds = 10 })
	full := capacityOf(c)
	if full != 10*200*1000 {
		t.Fatalf("capacity %d: 10 seconds at 200 percent above the limit", full)
	}
	half := Bucket{Tokens: full / 2, Capacity: full, UpdatedAt: noon}
	use := func(percent int64) *int64 { return &percent }
	tests := map[string]struct {
		bucket  Bucket
		after   time.Duration
		used    *int64
		want    int64
		wantMay bool
	}{
		"one second at three times the limit":          {half, time.Second, use(300), full/2 - 200_000, true},
		"half a second is half of that":                {half, 500 * time.Millisecond, use(300), full/2 - 100_000, true},
		"exactly the limit spends nothing":             {half, time.Second, use(100), full / 2, true},
		"most of the limit saves nothing":              {half, time.Second, use(60), full / 2, true},
		"little use saves":                             {half, time.Second, use(59), full/2 + 41_000, true},
		"a full bucket holds no more":                  {half, time.Hour, use(0), full, true},
		"debts are bounded":                            {half, time.Hour, use(300), -full, false},
		"what was not measured changes nothing":        {half, time.Second, nil, full / 2, true},
		"a clock that was set back changes nothing":    {half, -time.Hour, use(300), full / 2, true},
		"a new bucket is filled in part":               {Bucket{}, 0, use(300), full / 4, true},
		"so is one whose configuration changed":        {Bucket{Tokens: 1, Capacity: 1, UpdatedAt: noon}, time.Second, use(300), full / 4, true},
		"a use beyond all reason stays within bounds ": {half, 1000 * time.Hour, use(1 << 60), -full, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, may := tc.bucket.Step(c, noon.Add(tc.after), tc.used, 0.25)
			if got.Tokens != tc.want || may != tc.wantMay {
				t.Errorf("%d tokens, may %v; want %d, %v", got.Tokens, may, tc.want, tc.wantMay)
			}
		})
	}
	none, may := Bucket{}.Step(config(func(c *Config) { c.PeriodSeconds = 0 }), noon, nil, 0.4)
	if may || none.Tokens != 0 {
		t.Errorf("a period of nothing allows %d tokens", none.Tokens)
	}
}

// TestAnyHistory: over any history a quota stays between the limit and its ceiling, changes by a fifth per round at most, and
// the writes leave no container above its pod.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config(func(c *Config) {
			c.QuotaBurstPercent, c.PeriodSeconds = rapid.Int64Range(0, 1000).Draw(t, "ceiling"), rapid.Int64Range(-1, 20).Draw(t, "period")
		})
		limits := rapid.SliceOfN(rapid.Int64Range(1, 64_000), 1, 3).Draw(t, "limits")
		in := PodInput{Config: c, BurstWithinQuota: rapid.Bool().Draw(t, "within quota"), NormalizationPercent: rapid.Int64Range(100, 200).Draw(t, "normalization")}
		for i, limit := range limits {
			in.Limit += limit
			in.Containers = append(in.Containers, Container{ID: string(rune('a' + i)), Limit: limit, CurrentQuota: cfs.Normalized(cfs.Quota(limit), in.NormalizationPercent)})
			in.CurrentQuota += in.Containers[i].CurrentQuota
		}
		now := noon
		for range 12 {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "pause")) * time.Millisecond)
			in.Now, in.Pool.State = now, rapid.SampledFrom([]PoolState{Idle, Cooling, Overloaded, Unmeasured}).Draw(t, "pool")
			for i := range in.Containers {
				in.Containers[i].Throttled = rapid.Bool().Draw(t, "throttled")
				in.Containers[i].Used = new(rapid.Int64Range(0, 200_000).Draw(t, "used"))
			}
			got := Step(in)
			checkWrites(t, in, got)
			for i, result := range got.Containers {
				if result.Quota < result.Base || result.Quota > result.Ceiling || result.BurstMicros > result.Base && in.BurstWithinQuota {
					t.Fatalf("%+v", result)
				}
				if result.Quota > max(result.Current*6/5, result.Current+1) || result.Quota < result.Current*4/5 {
					t.Fatalf("from %d to %d in one round", result.Current, result.Quota)
				}
				in.Containers[i].CurrentQuota = result.Quota
			}
			in.CurrentQuota, in.Buckets = got.Quota, got.Buckets
		}
	})
}

// checkWrites carries the writes out one by one.
func checkWrites(t *rapid.T, in PodInput, got PodResult) {
	pod, quotas := in.CurrentQuota, map[string]int64{}
	for _, c := range in.Containers {
		quotas[c.ID] = c.CurrentQuota
	}
	for _, write := range got.Writes {
		if write.ID == "" {
			pod = write.Quota
		} else {
			quotas[write.ID] = write.Quota
		}
		for id, quota := range quotas {
			if quota > pod {
				t.Fatalf("after %+v container %s has %d, its pod %d", write, id, quota, pod)
			}
		}
	}
	total := int64(0)
	for _, result := range got.Containers {
		if total += result.Quota; total > pod {
			t.Fatalf("containers have %d together, their pod %d", total, pod)
		}
		if quotas[result.ID] != result.Quota || pod != got.Quota {
			t.Fatalf("the writes %+v do not lead to %+v", got.Writes, got)
		}
	}
}
