package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCPUTimeIsThatOfAllCPUs(t *testing.T) {
	tests := map[string]struct {
		content string
		want    CPUTime
		wantErr bool
	}{
		"a machine of one CPU": {"cpu  10 1 5 80 2 1 1 3 4 0\ncpu0 10 1 5 80 2 1 1 3 4 0\nintr 7\n", CPUTime{Used: 18, Total: 103}, false},
		"no line of all CPUs":  {"cpu0 10 1 5 80 2 1 1 3 4 0\n", CPUTime{}, true},
		"a short line":         {"cpu 10 1 5\n", CPUTime{}, true},
		"what is no figure":    {"cpu 10 1 5 many 2 1 1 3 4 0\n", CPUTime{}, true},
		"nothing":              {"", CPUTime{}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseCPUTime([]byte(tc.content))
			if (err != nil) != tc.wantErr {
				t.Errorf("error = %v, want one: %t", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("CPU time (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSharesOfCPUTime(t *testing.T) {
	before := CPUTime{Used: 10, Total: 100}
	for want, after := range map[float64]CPUTime{0: before, 0.25: {Used: 35, Total: 200}, 1: {Used: 20, Total: 110}} {
		if got := after.Since(before); got != want {
			t.Errorf("share of %+v since %+v = %g; want %g", after, before, got, want)
		}
	}
}

func FuzzParseCPUTime(f *testing.F) {
	f.Add([]byte("cpu  10 1 5 80 2 1 1 3 4 0\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if got, err := parseCPUTime(content); err == nil && (got.Used < 0 || got.Used > got.Total) {
			t.Errorf("CPU time = %+v", got)
		}
	})
}
