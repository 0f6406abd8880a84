package arbitration

import (
	"math/big"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestMaximum(t *testing.T) {
	count, percent := func(n int) *intstr.IntOrString { return new(intstr.FromInt32(int32(n))) }, func(text string) *intstr.IntOrString { return new(intstr.FromString(text)) }
	for name, test := range map[string]struct {
		replicas int
		value    *intstr.IntOrString
		want     int
	}{
		"no replicas":                              {0, nil, 0},
		"one replica":                              {1, nil, 1},
		"three replicas":                           {3, nil, 1},
		"four replicas":                            {4, nil, 2},
		"ten replicas":                             {10, nil, 2},
		"eleven replicas":                          {11, nil, 1},
		"109 replicas":                             {109, nil, 10},
		"a count":                                  {10, count(3), 3},
		"a count above the replicas":               {2, count(3), 2},
		"a count of 0":                             {10, count(0), 1},
		"a negative count":                         {10, count(-4), 1},
		"a percentage is rounded down":             {19, percent("10%"), 1},
		"a percentage that is less than one":       {5, percent("10%"), 1},
		"a percentage of 0":                        {5, percent("0%"), 1},
		"a percentage above all":                   {5, percent("150%"), 5},
		"a percentage with nine digits":            {5, percent("999999999%"), 5},
		"a percentage that is too long":            {50, percent("99999999999999999999%"), 1},
		"a number as text":                         {50, percent("20"), 1},
		"text":                                     {50, percent("many"), 1},
		"negative replicas, as of a broken object": {-5, percent("50%"), 0},
		"the most replicas there can be":           {1<<31 - 1, percent("99%"), 2126008810},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Maximum(test.replicas, test.value); got != test.want {
				t.Errorf("Maximum(%d, %v) = %d, want %d", test.replicas, test.value, got, test.want)
			}
		})
	}
}

// FuzzMaximum compares with arithmetic without bounds, and holds the result within its own.
func FuzzMaximum(f *testing.F) {
	f.Add(10, "10%", int32(0), true)
	f.Add(1<<62, "99%", int32(-1), true)
	f.Add(-1, "%", int32(7), false)
	f.Fuzz(func(t *testing.T, replicas int, text string, count int32, isText bool) {
		value := intstr.FromInt32(count)
		if isText {
			value = intstr.FromString(text)
		}
		got, most := Maximum(replicas, &value), max(replicas, 0)
		if got < min(1, most) || got > most {
			t.Fatalf("Maximum(%d, %v) = %d, want it between %d and %d", replicas, value, got, min(1, most), most)
		}
		if err := ValidMaximum(&value); err != nil {
			if got > 1 {
				t.Fatalf("the invalid value %v allows %d", value, got)
			}
			return
		}
		want := new(big.Int).SetInt64(int64(count))
		if isText {
			percent, ok := new(big.Int).SetString(strings.TrimSuffix(text, "%"), 10)
			if !ok {
				t.Fatalf("%q is valid", text)
			}
			want.Mul(percent, big.NewInt(int64(most))).Quo(want, big.NewInt(100))
		}
		want = clamp(want, big.NewInt(min(1, int64(most))), big.NewInt(int64(most)))
		if want.Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("Maximum(%d, %v) = %d, want %s", replicas, value, got, want)
		}
	})
}

func clamp(value, low, high *big.Int) *big.Int {
	switch {
	case value.Cmp(low) < 0:
		return low
	case value.Cmp(high) > 0:
		return high
	}
	return value
}
