package predict

import (
	"fmt"
	"testing"
)

// BenchmarkOutlook is of a node with 30 pods that was observed for a week.
func BenchmarkOutlook(b *testing.B) {
	r := NewRecord()
	r.Remember(Profile{Name: "seasonal"})
	for at := noon.Add(-7 * day); at.Before(noon); at = at.Add(RecordStep) {
		var samples []Sample
		for i := range 30 {
			samples = append(samples, used(fmt.Sprintf("pod-%d", i), float64(at.Hour()%12+i%3)))
		}
		r.Observe(at, samples)
	}
	for _, name := range []string{"balanced", "seasonal", "koordinator"} {
		profile, err := ProfileNamed(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r.Outlook(&profile, &profile, 0)
			}
		})
	}
}
