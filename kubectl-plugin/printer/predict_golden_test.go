package printer

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"koordinator.sh/koord/decision/core/predict"
)

func replayFixture() PredictionReplay {
	profiles := predict.Profiles()
	score := func(violations int, savings float64) predict.Score {
		return predict.Score{Points: 4400, Violations: violations, ViolationRate: float64(violations) / 4400, Severity: float64(violations) / 44000,
			Savings: savings, OracleSavings: 0.855, PeakRatio: (1 - savings) / 0.145}
	}
	return PredictionReplay{
		ReplayedLoad: ReplayedLoad{Trace: "traces", Nodes: 200, Recordings: 4000, Horizon: "1h"},
		Profiles: []ProfileScore{
			{profiles[0], score(11, 0.779)}, {profiles[1], score(0, 0.695)}, {profiles[2], score(515, 0.832)}, {profiles[4], score(0, 0.733)},
		},
	}
}

func TestReplayAtEveryWidthInEveryStyle(t *testing.T) {
	styles := map[string]Style{"colour": {Color: true}, "plain": {}, "ascii": {ASCII: true}}
	for _, width := range []int{0, 80, 120} {
		for name, style := range styles {
			variant := fmt.Sprintf("%d-%s", width, name)
			t.Run(variant, func(t *testing.T) {
				var out bytes.Buffer
				if err := Replay(&out, replayFixture(), Options{Width: width, Style: style, Now: fixtureNow}); err != nil {
					t.Fatal(err)
				}
				golden(t, filepath.Join("testdata", "predict-replay", variant+".txt"), out.String())
			})
		}
	}
}

func TestReplayKeepsToTheTerminal(t *testing.T) {
	for width := 40; width <= 200; width++ {
		var out bytes.Buffer
		if err := Replay(&out, replayFixture(), Options{Width: width, Now: fixtureNow}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if got := ansi.StringWidth(strings.TrimSuffix(line, "\n")); got > width {
				t.Fatalf("a line of %d columns on a terminal of %d: %q", got, width, line)
			}
		}
	}
}

func TestTheBestProfileIsSeldomExceeded(t *testing.T) {
	fixture := replayFixture()
	if best := bestProfile(fixture.Profiles); best != 0 {
		t.Errorf("the best is profile %d, want 0: of those within 1%% it frees most", best)
	}
	if best := bestProfile(fixture.Profiles[2:3]); best != -1 {
		t.Errorf("the best is profile %d although it is exceeded in 11%%", best)
	}
}
