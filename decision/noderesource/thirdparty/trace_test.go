package thirdparty_test

import (
	"testing"

	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/waterfall"
	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

// anyInput draws a node as both sides may show it, whether it makes sense or not.
func anyInput(t *rapid.T) thirdparty.Input {
	amount := func(name string) thirdparty.Amount {
		return thirdparty.Amount{
			MilliCPU: rapid.Int64Range(-1, 64_000).Draw(t, name+"CPU"),
			Memory:   rapid.Int64Range(-1, 256*gib).Draw(t, name+"Memory"),
		}
	}
	return thirdparty.Input{
		Origin: amount("origin"), Offered: amount("offered"), Pods: amount("pods"), Others: amount("others"), Taken: amount("taken"),
		Capacity: amount("capacity"), Allocated: amount("allocated"), Most: amount("most"), Now: start,
		Claimed: rapid.Bool().Draw(t, "claimed"), EngineWaits: rapid.Bool().Draw(t, "engineWaits"), Stopped: rapid.Bool().Draw(t, "stopped"),
	}
}

// TestTheTraceChangesNothing: the verdict is the same with a trace, whose terms lead to the capacity that is wanted.
func TestTheTraceChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, args := anyInput(t), args
		if rapid.Bool().Draw(t, "paired") {
			args = paired
		}
		var trace thirdparty.Trace
		got, want := thirdparty.Decide(in, args, thirdparty.Memory{}, &trace), thirdparty.Decide(in, args, thirdparty.Memory{}, nil)
		if got != want {
			t.Errorf("Decide() with a trace = %+v, without %+v", got, want)
		}
		for _, resource := range []struct {
			name  string
			terms []waterfall.Term
			want  int64
		}{{"cpu", trace.CPU, want.Wanted.MilliCPU}, {"memory", trace.Memory, want.Wanted.Memory}} {
			value := int64(0)
			for _, term := range resource.terms {
				value = waterfall.Apply(term.Operator, value, term.Value)
			}
			last := resource.terms[len(resource.terms)-1]
			if last.Operator != diagnosticsv1alpha1.Result || value != resource.want || last.Value != resource.want {
				t.Errorf("the terms of %s lead to %d, and Decide() wants %d: %+v", resource.name, value, resource.want, resource.terms)
			}
		}
	})
}

// TestPairedAmountsHaveAsManyUnits: of both resources, and never more than there is of either.
func TestPairedAmountsHaveAsManyUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		in.Capacity = unitsOf(rapid.Int64Range(0, 64).Draw(t, "units"))
		verdict := thirdparty.Decide(in, paired, thirdparty.Memory{}, nil)
		if verdict.Capacity != unitsOf(verdict.Capacity.MilliCPU/core) {
			t.Errorf("Decide() has a capacity of %+v, which is not units of %+v", verdict.Capacity, paired.Grain)
		}
		if units := verdict.Wanted.MilliCPU / paired.Grain.MilliCPU; verdict.Wanted != unitsOf(units) {
			t.Errorf("Decide() wants %+v, which is not %d units of %+v", verdict.Wanted, units, paired.Grain)
		}
		if alone := thirdparty.Decide(in, args, thirdparty.Memory{}, nil).Wanted; !fits(verdict.Wanted, alone) {
			t.Errorf("Decide() wants %+v paired, and %+v otherwise", verdict.Wanted, alone)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	in := thirdparty.Input{Origin: of(20, 40), Offered: of(12, 24), Pods: of(4, 8), Taken: of(8, 16), Now: start}
	b.ReportAllocs()
	var memory thirdparty.Memory
	for b.Loop() {
		memory = thirdparty.Decide(in, args, memory, nil).Memory
	}
}
