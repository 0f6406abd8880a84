package exposition

import (
	"strings"
	"testing"
)

const text = `# HELP asked_total Questions.
# TYPE asked_total counter
asked_total{name="a",operation="CREATE",text="with \"quotes\", {braces} and = signs"} 3
asked_total{name="a",operation="UPDATE"} 4
asked_total{name="b",operation="CREATE"} 5 1700000000000
asked_total_created{name="a"} 1.7e9
plain 1.5e+01
others{name="a"} 1
`

func TestSamplesAreSummedByTheirLabels(t *testing.T) {
	read, err := Parse(text, "asked_total", "plain")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		metric string
		labels []string
		want   float64
	}{
		"all of a metric":                   {"asked_total", nil, 12},
		"by one label":                      {"asked_total", []string{"name", "a"}, 7},
		"by two":                            {"asked_total", []string{"name", "a", "operation", "CREATE"}, 3},
		"by a value with every odd sign":    {"asked_total", []string{"text", `with "quotes", {braces} and = signs`}, 3},
		"by a value that none has":          {"asked_total", []string{"name", "c"}, 0},
		"without labels":                    {"plain", nil, 15},
		"one that was not asked for":        {"others", nil, 0},
		"one whose name begins in the same": {"asked_total_created", nil, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := read.Sum(test.metric, test.labels...); got != test.want {
				t.Errorf("sum is %g, want %g", got, test.want)
			}
		})
	}
}

func TestDamagedSamplesAreErrors(t *testing.T) {
	for _, text := range []string{`m{a="b" 1`, `m{a=b} 1`, `m{a="b"} one`, "m ", `m{a`} {
		if _, err := Parse(text, "m"); err == nil || !strings.Contains(err.Error(), "metric m") {
			t.Errorf("%q: error %v, want one that names the metric", text, err)
		}
	}
}
