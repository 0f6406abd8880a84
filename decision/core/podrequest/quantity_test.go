package podrequest

import (
	"math"
	"math/big"
	"testing"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
)

func TestNoAmountIsTooLargeToCount(t *testing.T) {
	tests := map[string]struct{ wantMilli, wantWhole int64 }{
		"0":                     {0, 0},
		"1m":                    {1, 1},
		"1500m":                 {1500, 2},
		"-1500m":                {-1500, -2},
		"9223372036854775":      {9223372036854775000, 9223372036854775},
		"10P":                   {math.MaxInt64, 10_000_000_000_000_000},
		"9223372036854775807":   {math.MaxInt64, math.MaxInt64},
		"100E":                  {math.MaxInt64, math.MaxInt64},
		"-10P":                  {math.MinInt64 / 2, -10_000_000_000_000_000},
		"-100E":                 {math.MinInt64 / 2, math.MinInt64 / 2},
		"0.0000000000000000001": {1, 1},
	}
	for text, test := range tests {
		t.Run(text, func(t *testing.T) {
			quantity := resource.MustParse(text)
			if got := Milli(quantity); got != test.wantMilli {
				t.Errorf("Milli = %d; want %d", got, test.wantMilli)
			}
			if got := Whole(quantity); got != test.wantWhole {
				t.Errorf("Whole = %d; want %d", got, test.wantWhole)
			}
		})
	}
}

// TestAmountsAreWhatTheySay compares with arithmetic of any size.
func TestAmountsAreWhatTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unscaled := rapid.Int64Min(0).Draw(t, "unscaled")
		scale := rapid.IntRange(-6, 9).Draw(t, "decimals")
		quantity := *resource.NewDecimalQuantity(*inf.NewDec(unscaled, inf.Scale(scale)), resource.DecimalSI)
		for name, test := range map[string]struct {
			got      int64
			decimals int
		}{"Milli": {Milli(quantity), 3}, "Whole": {Whole(quantity), 0}} {
			want := new(inf.Dec).Round(inf.NewDec(unscaled, inf.Scale(scale)), inf.Scale(test.decimals), inf.RoundUp).UnscaledBig()
			if want.Cmp(big.NewInt(math.MaxInt64)) > 0 {
				want = big.NewInt(math.MaxInt64)
			}
			if got := big.NewInt(test.got); new(big.Int).Abs(new(big.Int).Sub(got, want)).Cmp(big.NewInt(1000)) > 0 {
				t.Fatalf("%s of %s = %d; want %d", name, quantity.String(), test.got, want)
			}
		}
	})
}
