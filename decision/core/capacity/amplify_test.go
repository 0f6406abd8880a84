package capacity

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
)

func TestAmplify(t *testing.T) {
	for _, test := range []struct {
		value int64
		ratio extension.Ratio
		want  int64
	}{
		{4000, 1.5, 6000}, {4000, 1, 4000}, {4000, 0.5, 4000}, {4000, 0, 4000}, {1, 1.01, 2}, {100, 1.01, 101}, {-5, 2, 0}, {math.MaxInt64, 2, math.MaxInt64},
	} {
		if got := Amplify(test.value, test.ratio); got != test.want {
			t.Errorf("Amplify(%d, %v) = %d, want %d", test.value, test.ratio, got, test.want)
		}
	}
}

func TestAmplifyRoundsUpExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, percent := rapid.Int64Range(0, math.MaxInt64/2000).Draw(t, "value"), rapid.Int64Range(100, 100000).Draw(t, "percent")
		want := new(big.Int).Mul(big.NewInt(value), big.NewInt(percent))
		want.Add(want, big.NewInt(99)).Div(want, big.NewInt(100))
		if !want.IsInt64() {
			return
		}
		if got := Amplify(value, extension.Ratio(float64(percent)/100)); got != want.Int64() {
			t.Fatalf("Amplify(%d, %d%%) = %d, want %s", value, percent, got, want)
		}
	})
}
