package messages

import (
	"strings"
	"testing"
)

func BenchmarkText(b *testing.B) {
	texts := map[string]string{
		"whole":   "Findings",
		"format":  "needs 40 cpu, 31 of 31 free",
		"list":    "0/3 nodes are available: 3 Insufficient cpu (requested 40, at most 31 free, on worker-2), 1 node(s) had an expired NodeMetric.",
		"unknown": "connection refused by something that nobody knows",
		"hostile": strings.Repeat("1 of (a, b: c; ", 130),
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Chinese.Text(text)
			}
		})
	}
}
