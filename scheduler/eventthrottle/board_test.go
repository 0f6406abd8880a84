package eventthrottle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestConditionsAreToldAtOnceAndAgain(t *testing.T) {
	start := time.Unix(1000, 0)
	board := NewBoard[string]()
	steps := []struct {
		name    string
		after   time.Duration
		holding []string
		want    []string
	}{
		{name: "nothing holds"},
		{name: "two conditions", holding: []string{"b", "a", "b"}, want: []string{"b", "a"}},
		{name: "they last", after: Again - 1, holding: []string{"a", "b"}},
		{name: "they last for long", after: Again, holding: []string{"a", "b"}, want: []string{"a", "b"}},
		{name: "one ends", after: Again + 1, holding: []string{"a"}},
		{name: "and begins again", after: Again + 2, holding: []string{"a", "b"}, want: []string{"b"}},
	}
	for _, step := range steps {
		if diff := cmp.Diff(step.want, board.Due(start.Add(step.after), step.holding)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

func TestAFloodIsToldBitByBit(t *testing.T) {
	var holding []int
	for i := range 3 * Burst {
		holding = append(holding, i)
	}
	board := NewBoard[int]()
	now := time.Unix(1000, 0)
	first := board.Due(now, holding)
	if len(first) < Burst || len(first) > Burst+5 {
		t.Fatalf("%d at once, want about %d", len(first), Burst)
	}
	for _, condition := range board.Due(now, holding) {
		if condition < len(first) {
			t.Errorf("condition %d is told twice", condition)
		}
	}
}
