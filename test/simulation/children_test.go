package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// order is what a child is to do: seeds from one on, or every so many, or one with chosen steps.
type order struct {
	From, To, Stride uint64
	Steps            []int
	// Trace is true when the steps are to be printed.
	Trace bool
}

// report of a child about one seed.
type report struct {
	Seed                      uint64
	Hash                      string
	Decisions, Bindings       int
	Allocations, Trouble, Len int
	Problems, Trace           []string
}

const orderVariable, reportPrefix = "KOORD_SIMULATION", "simulated: "

// environment makes the Go runtime of a child repeatable: one goroutine at a time, never interrupted, and random numbers of
// libraries from the seed.
var environment = []string{"GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1,randseednop=0"}

// dispatch lets child processes simulate, and returns what they found, seed by seed. A child that ends early has found a
// deadlock or a panic in the seed that it did not report; another one goes on behind that.
func dispatch(t *testing.T, o order) []report {
	t.Helper()
	var all []report
	for o.From < o.To {
		reports := runChild(t, o)
		all = append(all, reports...)
		o.From += uint64(len(reports)) * o.Stride
	}
	return all
}

// runChild returns a report of every seed, or up to one at which the child broke off.
func runChild(t *testing.T, o order) []report {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.timeout=0")
	child.Env = append(append(os.Environ(), environment...), orderVariable+"="+string(text))
	var errors bytes.Buffer
	child.Stderr = &errors
	output, err := child.Output()
	reports, rest := reportsIn(t, output)
	if err != nil {
		next := o.From + uint64(len(reports))*o.Stride
		reports = append(reports, report{Seed: next, Problems: []string{fmt.Sprintf("the simulation broke off: %v\n%s\n%s", err, tail(rest), tail(errors.Bytes()))}})
	}
	return reports
}

// reportsIn the output of a child, and what else it says.
func reportsIn(t *testing.T, output []byte) (reports []report, rest []byte) {
	t.Helper()
	for line := range bytes.Lines(output) {
		found, is := bytes.CutPrefix(line, []byte(reportPrefix))
		if !is {
			rest = append(rest, line...)
			continue
		}
		var r report
		if err := json.Unmarshal(found, &r); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	return reports, rest
}

func tail(text []byte) []byte { return text[max(0, len(text)-4000):] }

// TestChild simulates what its environment says.
func TestChild(t *testing.T) {
	text := os.Getenv(orderVariable)
	if text == "" {
		t.Skip("it is for other tests to run")
	}
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	// Garbage is collected between seeds: in between, collecting would decide which goroutine runs next.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1 << 30)
	// Errors are slowed down by a clock that all simulations of a process share.
	utilruntime.ErrorHandlers = nil
	for seed := o.From; seed < o.To; seed += o.Stride {
		runtime.GC()
		//lint:ignore SA1019 libraries draw from it
		rand.Seed(int64(seed))
		var result outcome
		synctest.Test(t, func(*testing.T) { result = simulate(seed, o.Steps) })
		found := report{
			Seed: seed, Hash: result.hash(), Decisions: result.decisions, Bindings: result.seen.Bindings, Allocations: result.seen.Allocations,
			Problems: result.problems, Len: len(result.trace),
		}
		if o.Trace {
			found.Trace = result.trace
		}
		encoded, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("%s%s\n", reportPrefix, encoded)
	}
}
