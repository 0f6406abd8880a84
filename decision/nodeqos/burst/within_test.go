package burst

import "testing"

func TestWhatMayBeSavedUpWithinTheQuota(t *testing.T) {
	tests := []struct {
		name                 string
		saved, base, current int64
		want                 int64
	}{
		{"less than the quota", 50_000, 100_000, 100_000, 50_000},
		{"no more than the limit's quota", 500_000, 100_000, 300_000, 100_000},
		{"no more than the quota that is in force", 500_000, 200_000, 100_000, 100_000},
		{"a quota that was lifted bounds nothing", 500_000, 200_000, -1, 200_000},
	}
	for _, test := range tests {
		if got := within(test.saved, test.base, test.current); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
		pod := Step(PodInput{
			Now: noon, Config: config(func(c *Config) { c.CPUBurstPercent = test.saved * 100 / test.base }), Limit: test.base / 100, CurrentQuota: test.current,
			Containers: []Container{{Limit: test.base / 100, CurrentQuota: test.current}}, BurstWithinQuota: true,
		})
		if pod.BurstMicros != test.want || pod.Containers[0].BurstMicros != test.want {
			t.Errorf("%s: the pod may save up %d and its container %d, want %d", test.name, pod.BurstMicros, pod.Containers[0].BurstMicros, test.want)
		}
	}
}
