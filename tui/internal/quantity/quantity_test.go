package quantity

import (
	"testing"
	"time"
)

func TestText(t *testing.T) {
	noon := time.Date(2025, 3, 4, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct{ got, want string }{
		"whole cores":              {Cores(16000), "16"},
		"half cores":               {Cores(12500), "12.5"},
		"millicores":               {Cores(250), "0.25"},
		"one millicore":            {Cores(1), "0.001"},
		"many cores":               {Cores(960400), "960"},
		"negative cores":           {Cores(-1500), "-1.50"},
		"zero":                     {Cores(0), "0"},
		"bytes":                    {Bytes(512), "512B"},
		"a thousand is not 1000Ki": {Bytes(1000 * 1024), "0.98Mi"},
		"gibibytes":                {Bytes(64 << 30), "64Gi"},
		"part of a gibibyte":       {Bytes(3<<30 + 512<<20), "3.50Gi"},
		"percent":                  {Percent(2, 3), "67%"},
		"percent of nothing":       {Percent(2, 0), None},
		"seconds":                  {Age(45 * time.Second), "45s"},
		"minutes":                  {Age(12 * time.Minute), "12m"},
		"hours":                    {Age(200 * time.Minute), "3h20m"},
		"days":                     {Age(72 * time.Hour), "3d"},
		"a moment ago":             {AgeOf(noon, noon.Add(-45*time.Second)), "45s"},
		"a moment ahead":           {AgeOf(noon, noon.Add(time.Second)), "0s"},
		"ahead":                    {AgeOf(noon, noon.Add(time.Hour)), "<future>"},
		"the year 9999":            {AgeOf(noon, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)), "<future>"},
		"the year 2":               {AgeOf(noon, time.Date(2, 1, 1, 12, 0, 0, 0, time.UTC)), "738948d"},
		"clocks that disagree":     {Age(-time.Second), "0s"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %q, want %q", name, tc.got, tc.want)
		}
	}
}
