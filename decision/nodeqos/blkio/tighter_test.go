package blkio

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheTighterOfTwoBounds(t *testing.T) {
	a := Result{Problems: []string{"kept"}, Throttles: []Throttle{
		{Device: "8:0", ReadIOPS: 10, WriteIOPS: 0, ReadBPS: 7, WriteBPS: 0, Weight: 30}, {Device: "8:32", ReadBPS: 5, Weight: 100},
	}}
	b := Result{Problems: []string{"dropped"}, Throttles: []Throttle{
		{Device: "8:0", ReadIOPS: 20, WriteIOPS: 4, ReadBPS: 3, WriteBPS: 0, Weight: 60}, {Device: "8:16", WriteBPS: 9, Weight: 50},
	}}
	want := Result{Problems: []string{"kept"}, Throttles: []Throttle{
		{Device: "8:0", ReadIOPS: 10, WriteIOPS: 4, ReadBPS: 3, Weight: 30}, {Device: "8:16", WriteBPS: 9, Weight: 50}, {Device: "8:32", ReadBPS: 5, Weight: 100},
	}}
	if diff := cmp.Diff(want, Tighter(a, b)); diff != "" {
		t.Errorf("bounds (-want +got):\n%s", diff)
	}
}
