package interference

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRelief(t *testing.T) {
	type step struct {
		disturbed  []string
		bestEffort bool
	}
	noisy, calm := step{[]string{"ns/b", "ns/a"}, true}, step{nil, true}
	tests := map[string]struct {
		steps []step
		want  []int64
	}{
		"a fifth less each time":     {[]step{noisy, noisy, noisy}, []int64{80, 64, 51}},
		"never below a fifth":        {[]step{noisy, noisy, noisy, noisy, noisy, noisy, noisy, noisy, noisy}, []int64{80, 64, 51, 40, 32, 25, 20, 20, 20}},
		"slowly back":                {[]step{noisy, calm, calm, noisy, calm}, []int64{80, 85, 90, 72, 77}},
		"never above everything":     {[]step{calm, calm}, []int64{100, 100}},
		"no best effort is to blame": {[]step{noisy, {[]string{"ns/a"}, false}}, []int64{80, 85}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var relief Relief
			var got []int64
			for i, s := range tc.steps {
				relief = Relieve(relief, noon.Add(time.Duration(i)*reliefEvery), s.disturbed, s.bestEffort)
				got = append(got, relief.Keeps())
				if relief.Reason == "" {
					t.Error("no reason is given")
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("percent (-want +got):\n%s", diff)
			}
		})
	}
	if first := Relieve(Relief{}, noon, noisy.disturbed, true); Relieve(first, noon.Add(time.Second), noisy.disturbed, true).Percent != 80 {
		t.Error("two steps within ten seconds")
	}
}
