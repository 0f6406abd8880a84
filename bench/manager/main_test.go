package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFlagsThatNothingCanBeMeasuredWith(t *testing.T) {
	tests := map[string]struct {
		args    []string
		wantErr string
	}{
		"the defaults":     {nil, ""},
		"some parts":       {[]string{"-parts", "plan,quota,writes"}, ""},
		"an unknown part":  {[]string{"-parts", "plan,all"}, `unknown part "all"`},
		"no nodes":         {[]string{"-nodes", "0"}, "-nodes 0"},
		"no runs":          {[]string{"-runs", "0"}, "-runs 0"},
		"a negative rate":  {[]string{"-quota-rate", "-1"}, "-quota-rate -1"},
		"no steady state":  {[]string{"-steady", "0s"}, "-steady 0s"},
		"without warm-up":  {[]string{"-warm-up", "0s"}, ""},
		"an unknown flag":  {[]string{"-rates", "1"}, "not defined"},
		"a part not given": {[]string{"-parts", ""}, `unknown part ""`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := parse(test.args)
			switch {
			case test.wantErr == "" && err != nil:
				t.Error(err)
			case test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)):
				t.Errorf("error %v, want %q", err, test.wantErr)
			}
		})
	}
}

func TestFiguresAreJudgedAndPrinted(t *testing.T) {
	var b strings.Builder
	report(&b, []figure{
		measurement("told", 12.345, "s", "a note"),
		atMost(3, measurement("within", 3, "s", "")),
		atMost(0, measurement("beyond", 1, "", "")),
		atLeast(99, measurement("short of", 98.5, "%", "")),
	})
	const want = `| what | measured | must be | note |
| --- | ---: | ---: | --- |
| told | 12.35 s | - | a note |
| within | 3 s | <= 3 s |  |
| beyond | 1 | <= 0 (missed) |  |
| short of | 98.5 % | >= 99 % (missed) |  |
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestANumberIsSetInsideADocument(t *testing.T) {
	got, err := withNumber(`{"clusterStrategy":{"enable":true,"cpuSuppressThresholdPercent":65}}`, 70, "clusterStrategy", "cpuSuppressThresholdPercent")
	if err != nil || got != `{"clusterStrategy":{"cpuSuppressThresholdPercent":70,"enable":true}}` {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := withNumber("", 70, "a"); err == nil {
		t.Error("an absent document was changed")
	}
}
