package main

import (
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1)*time.Millisecond)
	}
	tests := map[string]struct {
		of       []time.Duration
		fraction float64
		want     time.Duration
	}{
		"of none":                     {fraction: 0.5},
		"of one":                      {of: hundred[:1], fraction: 0.99, want: time.Millisecond},
		"the 99th of a hundred":       {of: hundred, fraction: 0.99, want: 99 * time.Millisecond},
		"the last":                    {of: hundred, fraction: 1, want: 100 * time.Millisecond},
		"of fifty it is the largest":  {of: hundred[:50], fraction: 0.99, want: 50 * time.Millisecond},
		"the median of an even count": {of: hundred[:4], fraction: 0.5, want: 2 * time.Millisecond},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := percentile(test.of, test.fraction); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
