package quotaadmission

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// forest is n quotas: departments of a hundred teams each.
func forest(n int) *Index {
	x := NewIndex()
	for i := range n {
		dept := fmt.Sprintf("dept-%d", i/101)
		if i%101 == 0 {
			x.Set(quota(dept, "", "cpu=1000,memory=1000Gi", "cpu=5000,memory=5000Gi", parental))
			continue
		}
		x.Set(quota(fmt.Sprintf("team-%d", i), dept, "cpu=5,memory=5Gi", "cpu=50,memory=50Gi", bound(fmt.Sprintf("ns-%d", i))))
	}
	return x
}

func BenchmarkAdmissionAmong10000Quotas(b *testing.B) {
	x := forest(10_000)
	old := x.Get("team-5000")
	raised := *old
	raised.Min = list("cpu=6,memory=6Gi")
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if verdict := Validate(Input{Quota: &raised, Old: old, Quotas: x}); verdict.Refused() {
			b.Fatal(verdict.Findings)
		}
		x.Set(&raised)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

func BenchmarkAdmissionOfAParentOf10000(b *testing.B) {
	x := NewIndex()
	x.Set(quota("dept", "", "cpu=100000", "cpu=100000", parental))
	for i := range 10_000 {
		x.Set(quota(fmt.Sprintf("team-%d", i), "dept", "cpu=5", "cpu=50"))
	}
	old := x.Get("dept")
	lower := *old
	lower.Min = list("cpu=60000")
	for b.Loop() {
		if verdict := Validate(Input{Quota: &lower, Old: old, Quotas: x}); verdict.Refused() {
			b.Fatal(verdict.Findings)
		}
	}
}
