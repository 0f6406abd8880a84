package loopguard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

func TestAGuardKeepsWorkloadsThatGoInCircles(t *testing.T) {
	move := func(workload, pod string, ago int, from, to string) Move {
		return Move{Workload: workload, Pod: pod, From: from, To: to, At: noon.Add(-time.Duration(ago) * time.Minute)}
	}
	const refusal = "KOORD1501: Deployment/web/uid-web left node a and was moved back to it from b 20m0s later; plugins do not move its pods until 2026-03-04T12:30:00Z"
	circle := []Move{move("Deployment/web/uid-web", "shop/web-1", 30, "a", "b"), move("Deployment/web/uid-web", "shop/web-2", 10, "b", "a")}
	tests := map[string]struct {
		moves []Move
		// later is when the guard is made, after noon.
		later        time.Duration
		of           types.UID
		want         string
		wantConcerns map[string]bool
	}{
		"no move":                 {of: "uid-web", wantConcerns: map[string]bool{"shop": false}},
		"the workload":            {moves: circle, of: "uid-web", want: refusal, wantConcerns: map[string]bool{"shop": true, "bank": false}},
		"another workload":        {moves: circle, of: "uid-db", wantConcerns: map[string]bool{"shop": true}},
		"a pod without one":       {moves: circle, of: ""},
		"the last second of it":   {moves: circle, of: "uid-web", later: 30*time.Minute - time.Second, want: refusal},
		"when it left the window": {moves: circle, of: "uid-web", later: 30 * time.Minute, wantConcerns: map[string]bool{"shop": false}},
		"moves without pods": {
			moves: []Move{move("w", "", 30, "a", "b"), move("w", "", 10, "b", "a")}, of: "w",
			want:         "KOORD1501: w left node a and was moved back to it from b 20m0s later; plugins do not move its pods until 2026-03-04T12:30:00Z",
			wantConcerns: map[string]bool{"shop": true, "bank": true},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			guard := NewGuard(History{Moves: test.moves, Now: noon.Add(test.later), Window: time.Hour})
			got := ""
			if loop := guard.Of(test.of); loop != nil {
				got = loop.Refusal()
			}
			if got != test.want {
				t.Errorf("refusal %q, want %q", got, test.want)
			}
			concerns := map[string]bool{}
			for namespace := range test.wantConcerns {
				concerns[namespace] = guard.Concerns(namespace)
			}
			if diff := cmp.Diff(test.wantConcerns, concerns, cmp.FilterValues(func(a, b map[string]bool) bool { return len(a)+len(b) == 0 }, cmp.Ignore())); diff != "" {
				t.Errorf("namespaces (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAGuardedWorkloadReturnsOnce lets a plugin move a pod between nodes at random whenever the guard lets it: within one window, it comes
// back to a node at most once, and does not move after that.
func TestAGuardedWorkloadReturnsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := []string{"a", "b", "c", "d"}
		at, now := "a", noon
		var moves []Move
		left, returns := map[string]bool{}, 0
		for range rapid.IntRange(1, 30).Draw(t, "passes") {
			now = now.Add(time.Minute)
			if NewGuard(History{Moves: moves, Now: now, Window: time.Hour}).Of("w") != nil {
				continue
			}
			to := rapid.SampledFrom(nodes).Draw(t, "to")
			if to == at {
				continue
			}
			if returns > 0 {
				t.Fatalf("moved to %s after it had come back: %v", to, moves)
			}
			left[at] = true
			if left[to] {
				returns++
			}
			moves, at = append(moves, Move{Workload: "w", From: at, To: to, At: now}), to
		}
	})
}
