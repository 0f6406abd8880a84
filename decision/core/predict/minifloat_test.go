package predict

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestUse(t *testing.T) {
	tests := map[string]struct {
		cores, bytes         float64
		wantCores, wantBytes float64
	}{
		"nothing":                          {0, 0, 0, 0},
		"milli-cores are exact":            {0.1, gi, 0.1, gi},
		"so are four digits of them":       {4.095, 1500 << 20, 4.095, 1500 << 20},
		"less than a unit counts as one":   {1e-9, 1, 1.0 / 8000, 1024},
		"many digits are rounded up":       {4.097, 1e9, 4.098, 1000079360},
		"up to a power of two":             {16.383, 16*gi - 1, 16.384, 16 * gi},
		"a large node":                     {1024, 24 << 40, 1024, 24 << 40},
		"what is no amount counts as none": {math.NaN(), -5, 0, 0},
		"without end":                      {math.Inf(1), math.MaxFloat64, largestUnits / 8000, largestUnits * 1024},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := useOf(test.cores, test.bytes)
			if got.of(CPU) != test.wantCores || got.of(Memory) != test.wantBytes {
				t.Errorf("got %v cores and %v bytes, want %v and %v", got.of(CPU), got.of(Memory), test.wantCores, test.wantBytes)
			}
		})
	}
}

// TestCodesAreInOrder compares every code with the next, and codes it again.
func TestCodesAreInOrder(t *testing.T) {
	for code := range minifloat(math.MaxUint16) {
		units := code.units()
		if again := minifloatOf(units); again != code {
			t.Fatalf("%v units are coded as %d, want %d", units, again, code)
		}
		if next := (code + 1).units(); next <= units {
			t.Fatalf("code %d is %v units and the next one %v", code, units, next)
		}
	}
}

func TestACodeIsNeverTooSmallAndHardlyTooLarge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.Float64Range(0, largestUnits).Draw(t, "units")
		got := minifloatOf(units).units()
		if got < units*(1-2*slack) || got > max(units+1, units*(1+1.0/2048)) {
			t.Fatalf("%v units are coded as %v", units, got)
		}
	})
}
