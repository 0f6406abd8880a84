package loopguard

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// moved makes a move of the workload "w", so many minutes ago.
func moved(ago int, from, to string) Move {
	return Move{Workload: "w", Pod: fmt.Sprintf("pod-%d", ago), From: from, To: to, At: noon.Add(-time.Duration(ago) * time.Minute)}
}

func TestDetect(t *testing.T) {
	tests := map[string]struct {
		moves    []Move
		replicas int
		want     []string
	}{
		"no move":                               {},
		"one move":                              {moves: []Move{moved(10, "a", "b")}},
		"onward moves":                          {moves: []Move{moved(30, "a", "b"), moved(20, "b", "c"), moved(10, "c", "d")}},
		"back to the node it left":              {moves: []Move{moved(30, "a", "b"), moved(10, "b", "a")}, want: []string{"KOORD1501 w left node a and was moved back to it from b 20m0s later"}},
		"in whatever order they are recorded":   {moves: []Move{moved(10, "b", "a"), moved(30, "a", "b")}, want: []string{"KOORD1501 w left node a and was moved back to it from b 20m0s later"}},
		"around a longer circle":                {moves: []Move{moved(30, "a", "b"), moved(20, "b", "c"), moved(10, "c", "a")}, want: []string{"KOORD1501 w left node a and was moved back to it from c 20m0s later"}},
		"back to the node after the window":     {moves: []Move{moved(61, "a", "b"), moved(10, "b", "a")}},
		"evicted by the agent where it went to": {moves: []Move{moved(30, "a", "b"), moved(10, "b", "")}},
		"moved back to where the agent evicted": {moves: []Move{moved(30, "a", ""), moved(10, "b", "a")}, want: []string{"KOORD1501 w left node a and was moved back to it from b 20m0s later"}},
		"two pods that swap at the same time":   {moves: []Move{moved(10, "a", "b"), moved(10, "b", "a")}},
		"a move in the future":                  {moves: []Move{moved(30, "a", "b"), moved(-10, "b", "a")}},
		"a pod that stayed on its node":         {moves: []Move{moved(30, "a", "a"), moved(10, "a", "a")}},
		"too often": {
			moves: []Move{moved(50, "a", "b"), moved(40, "b", "c"), moved(30, "c", "d"), moved(20, "d", "e")},
			want:  []string{"KOORD1502 4 pods of w, which has 1, were moved or evicted within 1h0m0s; at most 3 are allowed"},
		},
		"as often with more replicas": {replicas: 2, moves: []Move{moved(50, "a", "b"), moved(40, "b", "c"), moved(30, "c", "d"), moved(20, "d", "e")}},
		"a workload without a name":   {moves: []Move{{From: "a", To: "b", At: noon.Add(-2 * time.Minute)}, {From: "b", To: "a", At: noon}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			loops := Detect(History{Moves: test.moves, Replicas: map[string]int{"w": test.replicas}, Now: noon, Window: time.Hour, MaxMoves: 3})
			var got []string
			for _, loop := range loops {
				got = append(got, string(loop.Code)+" "+loop.Message)
				if want := loop.Moves[0].At.Add(time.Hour); !Stopped(loops)["w"].Equal(want) {
					t.Errorf("stopped until %s, want until the oldest move is forgotten at %s", Stopped(loops)["w"], want)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("loops (-want +got):\n%s", diff)
			}
		})
	}
}
