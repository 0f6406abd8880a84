package tui

import (
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/tui/internal/fixture"
	"koordinator.sh/koord/tui/internal/history"
)

// chartPast is a chart that has asked for the past of a node, or of the cluster where it is empty.
func (r *rig) chartPast(node string) *chart {
	c := &chart{Model: r.m}
	r.run(c.askPast(node))
	return c
}

// recordedColumns are the columns of a chart with use that was recorded, and with use that was watched.
func (r *rig) recordedColumns(node string) (recorded, watched int) {
	drawn := r.chartPast(node).chartOf(node, history.CPU, 70)
	for i, p := range drawn.Points {
		switch {
		case p.Known() && i < drawn.Recorded:
			recorded++
		case p.Known():
			watched++
		}
	}
	return recorded, watched
}

func TestAChartBeginsWithWhatWasRecorded(t *testing.T) {
	name := fixture.NodeName(1)
	for what, tc := range map[string]struct {
		prepare                   func(*rig)
		node                      string
		wantRecorded, wantWatched bool
		wantText                  string
	}{
		"of a node, by its agent":    {func(*rig) {}, name, true, true, "recorded by koordlet"},
		"of the cluster, by most":    {func(*rig) {}, "", true, true, "the agents of 28 of 30 nodes"},
		"no agent answers":           {func(r *rig) { r.src.AllSilent = true }, name, false, true, "no recorded usage: what the node used before is not known: no agent was asked"},
		"no agent of the cluster":    {func(r *rig) { r.src.AllSilent = true }, "", false, true, "no recorded usage"},
		"one agent is left out":      {func(r *rig) { r.src.Silent = []string{name} }, "", true, true, "the agents of 27 of 30 nodes"},
		"the question fails":         {func(r *rig) { r.src.Err = errUnreachable }, name, false, true, "no recorded usage: list nodes: dial tcp"},
		"watched for longer than it": {func(r *rig) { r.pass(31 * time.Minute) }, name, false, true, "all data is live"},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, 30).start()
			tc.prepare(r)
			if tc.node == "" {
				r.press(":chart", "enter")
			} else {
				r.press(":chart "+tc.node, "enter")
			}
			recorded, watched := r.recordedColumns(tc.node)
			if recorded > 0 != tc.wantRecorded || watched > 0 != tc.wantWatched {
				t.Errorf("unexpected columns: %d recorded, %d watched", recorded, watched)
			}
			if text := r.screen(); !strings.Contains(text, tc.wantText) {
				t.Errorf("the chart does not say %q:\n%s", tc.wantText, text)
			}
		})
	}
}

func TestThePastIsAskedForOnce(t *testing.T) {
	r := newRig(t, 30).start().press(":chart "+fixture.NodeName(1), "enter")
	r.pass(time.Minute)
	if got := r.src.Asked.Load(); got != 1 {
		t.Errorf("the agent was asked %d times while its chart was watched", got)
	}
	r.press("j")
	if got := r.src.Asked.Load(); got != 2 {
		t.Errorf("agents were asked %d times after the next node", got)
	}
	r.press("esc", ":chart "+fixture.NodeName(4), "enter")
	r.src.Err = errUnreachable
	r.press("j")
	if text := r.screen(); !strings.Contains(text, "no recorded usage: list nodes: dial tcp") {
		t.Fatalf("the chart does not say that asking failed:\n%s", text)
	}
	r.src.Err = nil
	r.pass(pastRetry + 5*time.Second)
	if text := r.screen(); !strings.Contains(text, "recorded by koordlet") {
		t.Errorf("the past is not asked for again after a failure:\n%s", text)
	}
}

// TestRecordedUseEndsWhereWatchingBegins: requests and offers, which are not recorded, are on the right of that only.
func TestRecordedUseEndsWhereWatchingBegins(t *testing.T) {
	r := newRig(t, 30).start()
	r.pass(10 * time.Minute)
	r.press(":chart "+fixture.NodeName(1), "enter")
	drawn := r.chartPast(fixture.NodeName(1)).chartOf(fixture.NodeName(1), history.CPU, 70)
	if drawn.Recorded == 0 || drawn.Recorded == len(drawn.Points) {
		t.Fatalf("%d of %d columns are recorded", drawn.Recorded, len(drawn.Points))
	}
	for i, p := range drawn.Points {
		if reserved := p.Area[1]; p.Known() && (reserved > 0) != (i >= drawn.Recorded) {
			t.Errorf("column %d of %d recorded has %v of what was requested and not used", i, drawn.Recorded, reserved)
		}
	}
	if axis := r.lines()[20]; !strings.Contains(axis, " recorded ") || !strings.Contains(axis, " live ") {
		t.Errorf("the axis %q does not name its parts", axis)
	}
}
