package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWorkBeginsAtItsTimeWhateverTheOthersDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		starts := make([]time.Duration, 4)
		took, err := pace(t.Context(), 10, 4, func(_ context.Context, i int) error {
			starts[i] = time.Since(began)
			if i == 1 {
				time.Sleep(time.Second)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		const step = 100 * time.Millisecond
		if diff := cmp.Diff([]time.Duration{0, step, 2 * step, 3 * step}, starts); diff != "" {
			t.Errorf("starts (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]time.Duration{0, time.Second, 0, 0}, took); diff != "" {
			t.Errorf("times (-want +got):\n%s", diff)
		}
	})
}

func TestTheFirstErrorEndsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, wantErr := time.Now(), errors.New("refused")
		calls := 0
		_, err := pace(t.Context(), 1, 1000, func(_ context.Context, i int) error {
			calls++
			if i == 2 {
				return wantErr
			}
			return nil
		})
		if !errors.Is(err, wantErr) || calls != 3 || time.Since(began) > 3*time.Second {
			t.Errorf("%v after %d calls and %s, want %v after 3", err, calls, time.Since(began), wantErr)
		}
	})
}

func TestWorkOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		took, err := oneByOne(t.Context(), 3, func(_ context.Context, i int) error {
			time.Sleep(time.Duration(i) * time.Second)
			return nil
		})
		if err != nil || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if diff := cmp.Diff([]time.Duration{0, time.Second, 2 * time.Second}, took); diff != "" {
			t.Errorf("times (-want +got):\n%s", diff)
		}
	})
}

func TestQuantiles(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i)
	}
	tests := map[string]struct {
		times []time.Duration
		share float64
		want  time.Duration
	}{
		"the median of a hundred":   {hundred, 0.5, 50},
		"the p99 of a hundred":      {hundred, 0.99, 99},
		"the largest":               {hundred, 1, 100},
		"the smallest":              {hundred, 0, 1},
		"the p99 of one is the one": {hundred[:1], 0.99, 100},
		"of none":                   {nil, 0.99, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := quantile(test.times, test.share); got != test.want {
				t.Errorf("quantile %g is %d, want %d", test.share, got, test.want)
			}
		})
	}
	if hundred[0] != 100 {
		t.Error("the times were put into another order")
	}
	for _, values := range [][]float64{{3, 1, 2}, {2, 1}, {2}} {
		if got := median(values); got != 2 {
			t.Errorf("the median of %v is %g, want 2", values, got)
		}
	}
}
