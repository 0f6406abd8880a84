package cfs

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestConversions(t *testing.T) {
	tests := map[string]struct{ got, want int64 }{
		"half a CPU is half a period":                       {Quota(500), 50_000},
		"nothing is no time":                                {Quota(0), 0},
		"negative CPUs are nothing":                         {Quota(-5), 0},
		"more CPUs than can be counted":                     {Quota(math.MaxInt64), math.MaxInt64},
		"a quota as milli-cores":                            {Milli(180_050), 1800},
		"no limit is no CPUs":                               {Milli(Unlimited), 0},
		"half a CPU weighs half of 1024":                    {Shares(500), 512},
		"nothing weighs the least that the kernel accepts":  {Shares(0), 2},
		"a huge request weighs the most that it accepts":    {Shares(math.MaxInt64), 262_144},
		"256 CPUs weigh the most":                           {Shares(256_000), 262_144},
		"a CPU worth 1.2 needs 1/1.2 of the time, upwards":  {Normalized(50_000, 120), 41_667},
		"a slow CPU gets no more":                           {Normalized(50_000, 80), 50_000},
		"no limit stays no limit":                           {Normalized(Unlimited, 120), -1},
		"the largest quota does not overflow":               {Normalized(math.MaxInt64, 200), math.MaxInt64/2 + 1},
		"a ratio of one changes nothing":                    {Normalized(50_000, 100), 50_000},
		"a quota that divides evenly is not rounded beyond": {Normalized(60_000, 120), 50_000},
	}
	for name, tc := range tests {
		if tc.got != tc.want {
			t.Errorf("%s: %d, want %d", name, tc.got, tc.want)
		}
	}
}

func TestNormalizedRoundsUpExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quota, percent := rapid.Int64Range(1, math.MaxInt64).Draw(t, "quota"), rapid.Int64Range(101, 1000).Draw(t, "percent")
		want := new(big.Int).Mul(big.NewInt(quota), big.NewInt(100))
		want.Add(want, big.NewInt(percent-1)).Div(want, big.NewInt(percent))
		if got := Normalized(quota, percent); got != want.Int64() {
			t.Fatalf("Normalized(%d, %d) = %d, want %s", quota, percent, got, want)
		}
	})
}
