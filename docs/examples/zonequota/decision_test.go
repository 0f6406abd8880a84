package zonequota

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFilter(t *testing.T) {
	tests := map[string]struct {
		in          Input
		want        Verdict
		wantMessage string
	}{
		"a zone with room passes": {
			in: Input{Team: "red", Zone: "a", Taken: 1, Max: 2}, wantMessage: "zone a has 1 pods of team red < maxPods 2",
		},
		"a full zone is refused": {
			in: Input{Team: "red", Zone: "a", Taken: 2, Max: 2}, want: Verdict{Code: CodeZoneFull, Zone: "a"},
			wantMessage: "zone a has 2 pods of team red >= maxPods 2",
		},
		"a node without a zone passes": {
			in: Input{Team: "red", Taken: 9, Max: 2}, wantMessage: "zone  has 9 pods of team red < maxPods 2",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			trace := &Trace{}
			got := Filter(test.in, trace)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if message := trace.Message(got); message != test.wantMessage {
				t.Errorf("message %q, want %q", message, test.wantMessage)
			}
			if untraced := Filter(test.in, nil); untraced != got {
				t.Errorf("without a trace the verdict is %+v, with one %+v", untraced, got)
			}
		})
	}
}

func TestScoresFallAsAZoneFills(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Input{Zone: "a", Taken: rapid.Int64Range(0, 50).Draw(t, "taken"), Max: rapid.Int64Range(1, 50).Draw(t, "max")}
		fuller := in
		fuller.Taken++
		score := Score(in)
		if score < 0 || score > 100 || Score(fuller) > score {
			t.Fatalf("score %d, with one pod more %d", score, Score(fuller))
		}
		if Filter(in, nil).Passed() != (score > 0 || in.Taken < in.Max) {
			t.Fatalf("score %d of a zone that passes: %v", score, Filter(in, nil).Passed())
		}
	})
}
