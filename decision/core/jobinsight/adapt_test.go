package jobinsight

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestRatesAdaptWhileSpreadsChange: all kinds become calmer and wilder by turns, for about as many runs as the histograms remember. What
// these say is of the turn before; the rates keep the coverage of each turn nearer to what is stated.
func TestRatesAdaptWhileSpreadsChange(t *testing.T) {
	const turn = 600
	r, store := rand.New(rand.NewPCG(11, 11)), NewStore(0)
	var turns [20]Coverage
	for i := range turn * len(turns) {
		sigma := 0.1
		if i/turn%2 == 1 {
			sigma = 0.5
		}
		kind := Kind{Application: string(rune('a' + r.IntN(60)))}
		value := spread(r, 2, sigma)
		if estimate := store.Predict(kind, 0.9, nil).Of(Memory); estimate != nil {
			turns[i/turn].judge(value*gib, estimate.Low, estimate.High)
		}
		store.Observe(ended(kind, i, Completed, value, time.Hour))
	}
	for i := range turns[2:] { // without adapted rates, wild turns are covered to 82 % and calm ones to 100 %
		if rate := turns[2+i].Rate(); rate < 0.825 || rate > 0.975 {
			t.Errorf("turn %d is covered to %.1f%%", 2+i, 100*rate)
		}
	}
}
