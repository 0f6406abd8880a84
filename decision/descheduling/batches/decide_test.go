package batches

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// movesOf reads "a-b", a move from a to b that waits, with "+" behind it one that succeeded, "!" one that failed, "~" one that runs.
func movesOf(texts ...string) []Move {
	states := map[string]State{"+": Succeeded, "!": Failed, "~": Running}
	var moves []Move
	for _, text := range texts {
		name, state := strings.TrimRight(text, "+!~"), Waiting
		if mark := strings.TrimPrefix(text, name); mark != "" {
			state = states[mark]
		}
		from, to, _ := strings.Cut(name, "-")
		moves = append(moves, Move{Name: name, From: from, To: to, State: state})
	}
	return moves
}

func TestDecide(t *testing.T) {
	for name, test := range map[string]struct {
		moves []Move
		ratio float64
		want  Verdict
	}{
		"no moves": {want: Verdict{}},
		"moves that share no node": {
			moves: movesOf("a-b", "c-d"), want: Verdict{Batches: [][]string{{"a-b", "c-d"}}, Start: []string{"a-b", "c-d"}},
		},
		"a chain makes room from its end": {
			moves: movesOf("a-b", "b-c", "c-d"), want: Verdict{Batches: [][]string{{"c-d"}, {"b-c"}, {"a-b"}}, Start: []string{"c-d"}},
		},
		"the next batch waits for the running one": {
			moves: movesOf("a-b", "b-c~", "b-d+"), want: Verdict{Batches: [][]string{{"b-c", "b-d"}, {"a-b"}}, Started: 2},
		},
		"and starts after it": {
			moves: movesOf("a-b", "b-c+", "b-d+"), want: Verdict{Batches: [][]string{{"b-c", "b-d"}, {"a-b"}}, Current: 1, Start: []string{"a-b"}, Started: 2},
		},
		"a cycle moves together": {
			moves: movesOf("a-b", "b-a"), want: Verdict{Batches: [][]string{{"a-b", "b-a"}}, Start: []string{"a-b", "b-a"}},
		},
		"after what leaves the cycle, and before what enters it": {
			moves: movesOf("a-b", "b-a", "b-x", "y-a"),
			want:  Verdict{Batches: [][]string{{"b-x"}, {"a-b", "b-a"}, {"y-a"}}, Start: []string{"b-x"}},
		},
		"one failure of four is tolerated, and drops what waited for it": {
			moves: movesOf("a-b", "b-c!", "d-e+", "f-g+", "h-i+", "x-a"),
			want: Verdict{
				Batches: [][]string{{"b-c", "d-e", "f-g", "h-i"}, {"a-b"}, {"x-a"}}, Current: 3, Dropped: []string{"a-b", "x-a"}, Failed: 1, Started: 4,
			},
		},
		"two failures of four stop the pass": {
			moves: movesOf("a-b", "b-c!", "d-e!", "f-g+", "h-i~", "x-h"),
			want: Verdict{
				Batches: [][]string{{"b-c", "d-e", "f-g", "h-i"}, {"a-b", "x-h"}}, Dropped: []string{"a-b", "x-h"}, Stopped: true, Failed: 2, Started: 4,
			},
		},
		"a ratio of 1 never stops": {
			moves: movesOf("a-b!", "c-d!", "d-e!", "x-y"), ratio: 1,
			want: Verdict{Batches: [][]string{{"a-b", "d-e", "x-y"}, {"c-d"}}, Start: []string{"x-y"}, Failed: 3, Started: 3},
		},
		"a ratio that is given": {
			moves: movesOf("a-b!", "c-d+", "x-y"), ratio: 0.5,
			want: Verdict{Batches: [][]string{{"a-b", "c-d", "x-y"}}, Start: []string{"x-y"}, Failed: 1, Started: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Decide(Input{Moves: test.moves, FailureRatio: test.ratio}, nil)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheTraceSaysWhatAMoveWaitedFor(t *testing.T) {
	var trace Trace
	verdict := Decide(Input{Moves: movesOf("a-b", "b-c!", "d-e+", "f-g+", "h-i+")}, &trace)
	if got, want := trace.Message(verdict, "a-b"), "no room came free on node b: b-c did not move its pod to node c"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	verdict = Decide(Input{Moves: movesOf("a-b", "b-c!")}, &trace)
	if got, want := trace.Message(verdict, "a-b"), "the pass stopped: 1 of 1 moves failed"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func drawMoves(t *rapid.T) []Move {
	var moves []Move
	for i := range rapid.IntRange(0, 14).Draw(t, "moves") {
		from := rapid.IntRange(0, 6).Draw(t, "from")
		to := (from + rapid.IntRange(1, 6).Draw(t, "to")) % 7
		moves = append(moves, Move{Name: fmt.Sprintf("m%02d", i), From: fmt.Sprint(from), To: fmt.Sprint(to), State: Waiting})
	}
	return moves
}

// reach says whether moves lead from one node to another.
func reach(moves []Move, from, to string) bool {
	seen, open := map[string]bool{}, []string{from}
	for len(open) > 0 {
		node := open[0]
		open = open[1:]
		if node == to {
			return true
		}
		for _, move := range moves {
			if move.From == node && !seen[move.To] {
				seen[move.To] = true
				open = append(open, move.To)
			}
		}
	}
	return false
}

// TestMovesWaitForRoom: a move from v comes in a batch before any move to v, unless a cycle leads through both.
func TestMovesWaitForRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moves := drawMoves(t)
		batch, total := map[string]int{}, 0
		for number, names := range Decide(Input{Moves: moves}, nil).Batches {
			for _, name := range names {
				batch[name] = number
				total++
			}
		}
		if total != len(moves) {
			t.Fatalf("%d moves are in batches, want all %d", total, len(moves))
		}
		for _, enter := range moves {
			for _, leave := range moves {
				if enter.To != leave.From {
					continue
				}
				entering, leaving := reach(moves, enter.To, enter.From), reach(moves, leave.To, leave.From)
				// Either may be a part of the cycle of the node, but not both.
				if !(entering && leaving) && batch[leave.Name] >= batch[enter.Name] {
					t.Fatalf("%+v is in batch %d and %+v in batch %d", leave, batch[leave.Name], enter, batch[enter.Name])
				}
				if entering && leaving && batch[leave.Name] != batch[enter.Name] {
					t.Fatalf("%+v and %+v are in one cycle and in the batches %d and %d", leave, enter, batch[leave.Name], batch[enter.Name])
				}
			}
		}
	})
}

// TestAPassEnds runs passes with failures: every move starts at most once, none while what it waits for runs, and all of them end.
func TestAPassEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Input{Moves: drawMoves(t), FailureRatio: rapid.Float64Range(0, 1).Draw(t, "ratio")}
		for range 4 * len(in.Moves) {
			verdict := Decide(in, nil)
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			random.Shuffle(len(in.Moves), func(i, j int) { in.Moves[i], in.Moves[j] = in.Moves[j], in.Moves[i] })
			if diff := cmp.Diff(verdict, Decide(in, &Trace{})); diff != "" {
				t.Fatalf("verdict of the same moves in another order, with a trace (-want +got):\n%s", diff)
			}
			for i := range in.Moves {
				switch move := &in.Moves[i]; {
				case slices.Contains(verdict.Start, move.Name):
					move.State = Running
				case move.State == Running:
					move.State = rapid.SampledFrom([]State{Running, Succeeded, Succeeded, Failed}).Draw(t, "end")
				}
			}
		}
		for _, move := range in.Moves { // what runs still ends now
			if move.State == Running {
				return
			}
		}
		verdict := Decide(in, nil)
		for _, move := range in.Moves {
			if move.State == Waiting && !slices.Contains(verdict.Dropped, move.Name) && len(verdict.Start) == 0 {
				t.Fatalf("%+v waits for ever: %+v", move, verdict)
			}
		}
	})
}

func TestALongChainIsNoDeepRecursion(t *testing.T) {
	var moves []Move
	for i := range 20000 {
		moves = append(moves, Move{Name: fmt.Sprintf("m%05d", i), From: fmt.Sprint(i), To: fmt.Sprint(i + 1), State: Waiting})
	}
	if got := len(Decide(Input{Moves: moves}, nil).Batches); got != len(moves) {
		t.Errorf("%d batches, want %d", got, len(moves))
	}
}
