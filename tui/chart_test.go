package tui

import (
	"strings"
	"testing"
	"time"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/fixture"
	"koordinator.sh/koord/tui/internal/history"
	"koordinator.sh/koord/tui/internal/quantity"
)

// TestAColumnCoversTheLeastThatShowsTheHistory, and the zoom goes from there.
func TestAColumnCoversTheLeastThatShowsTheHistory(t *testing.T) {
	for name, tc := range map[string]struct {
		watched time.Duration
		zoom    int
		want    time.Duration // of an interval of 2s
	}{
		"nothing was watched yet":      {0, 0, 250 * time.Millisecond},
		"half a minute on 70 columns":  {30 * time.Second, 0, 500 * time.Millisecond},
		"three minutes":                {3 * time.Minute, 0, 4 * time.Second},
		"closer":                       {3 * time.Minute, -1, 2 * time.Second},
		"farther":                      {3 * time.Minute, 1, 10 * time.Second},
		"no closer than the closest":   {3 * time.Minute, -7, 250 * time.Millisecond},
		"no farther than the farthest": {3 * time.Minute, 7, 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 3).start()
			r.pass(tc.watched)
			c := &chart{Model: r.m, zoom: tc.zoom}
			if got := c.step(70); got != tc.want {
				t.Errorf("a column covers %s, want %s", got, tc.want)
			}
		})
	}
}

func TestTheZoomStopsAtBothEnds(t *testing.T) {
	c := &chart{Model: newRig(t, 3).start().m}
	for range 50 {
		c.zoomBy(1)
	}
	if got, want := c.step(70), c.interval*zooms[len(zooms)-1]/8; got != want {
		t.Errorf("a column covers %s, want %s", got, want)
	}
	for range 100 {
		c.zoomBy(-1)
	}
	if got, want := c.step(70), c.interval*zooms[0]/8; got != want {
		t.Errorf("a column covers %s, want %s", got, want)
	}
}

// TestTheChartGoesThroughTheNodes in the order of the node table, the cluster before the first.
func TestTheChartGoesThroughTheNodes(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"the cluster at first":               {nil, "chart(cluster)"},
		"the first node":                     {[]string{"j"}, "chart(node-0000)"},
		"and on":                             {[]string{"j", "down", "right", "l"}, "chart(node-0003)"},
		"back to the cluster":                {[]string{"j", "j", "k", "up"}, "chart(cluster)"},
		"before the cluster there is none":   {[]string{"k", "k"}, "chart(cluster)"},
		"a is the cluster at once":           {[]string{"j", "j", "j", "a"}, "chart(cluster)"},
		"in the order of the table":          {[]string{"esc", "C", ":chart", "enter", "j"}, "chart(node-0004)"},
		"only the nodes that the filter has": {[]string{"esc", "/00[12]7", "enter", ":chart", "enter", "j", "j"}, "chart(node-0027)"},
		"the last one is the last":           {[]string{":chart node-0029", "enter", "j", "j"}, "chart(node-0029)"},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, newRig(t, 30).start().press(":chart", "enter").press(tc.keys...).plain(), []string{tc.want}, nil)
		})
	}
}

// TestATallTerminalShowsBothResources, a low one the one that tab chooses.
func TestATallTerminalShowsBothResources(t *testing.T) {
	r := newRig(t, 30).start()
	r.pass(20 * time.Second)
	r.press("v")
	says(t, r.plain(), []string{"  cpu "}, []string{"  mem "})
	r.press("tab")
	says(t, r.plain(), []string{"  mem "}, []string{"  cpu "})
	r.press("tab")
	says(t, r.plain(), []string{"  cpu "}, []string{"  mem "})
	r.resize(160, 50)
	says(t, r.plain(), []string{"  cpu ", "capacity", "now", "  mem ", "capacity", "now"}, nil)
}

func TestNodesWithoutAChartSayWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		node   string
		rights limited
		want   []string
	}{
		"the NodeMetric is too old":    {fixture.NodeName(11), limited{nodes: true, pods: true, metrics: true}, []string{"no usage data for node node-0011", "its NodeMetric is missing or too old; enter explains the node"}},
		"there is none":                {fixture.NodeName(17), limited{nodes: true, pods: true, metrics: true}, []string{"no usage data for node node-0017"}},
		"there is no such node":        {"nope", limited{nodes: true, pods: true, metrics: true}, []string{"no data for node nope", "there is no node of that name; a shows the cluster"}},
		"measurements may not be read": {fixture.NodeName(1), limited{nodes: true, pods: true}, []string{"the usage of node node-0001 is unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30)
			tc.rights.Source = r.src.Source
			r.src.Source = tc.rights
			says(t, r.start().press(":chart "+tc.node, "enter").plain(), tc.want, []string{"┤"})
		})
	}
}

func TestWhyNothingWasRecorded(t *testing.T) {
	status := func(a *diagnostics.AgentExplanation, findings ...diagnostics.Finding) *diagnostics.NodeExplanationStatus {
		return &diagnostics.NodeExplanationStatus{Agent: a, Findings: findings}
	}
	for name, tc := range map[string]struct {
		status *diagnostics.NodeExplanationStatus
		want   string
	}{
		"a finding says it":        {status(nil, diagnostics.Finding{Message: "the agent does not respond"}), "the agent does not respond"},
		"the agent says it":        {status(&diagnostics.AgentExplanation{Incomplete: []string{"no agent was asked"}}), "no agent was asked"},
		"the agent is new":         {status(&diagnostics.AgentExplanation{Usage: &diagnostics.UsageHistory{}}), "koordlet on node node-1 has just started"},
		"the agent is of old":      {status(&diagnostics.AgentExplanation{}), "koordlet on node node-1 does not record usage"},
		"no agent answered at all": {status(nil), "koordlet on node node-1 does not record usage"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := pastMissing("node-1", tc.status); got != tc.want {
				t.Errorf("unexpected %q, want %q", got, tc.want)
			}
		})
	}
}

// TestTheRecordedPastIsASumOfAllThatAnswered: a sum over fewer nodes would look like less use.
func TestTheRecordedPastIsASumOfAllThatAnswered(t *testing.T) {
	moment := func(second int, used int64) diagnostics.UsageMoment {
		m := diagnostics.UsageMoment{CPU: diagnostics.UsageParts{Used: used, ProdUsed: used}}
		m.Time.Time = builtAt.Add(time.Duration(second) * time.Second)
		return m
	}
	agent := func(moments ...diagnostics.UsageMoment) *diagnostics.NodeExplanationStatus {
		return &diagnostics.NodeExplanationStatus{Agent: &diagnostics.AgentExplanation{Component: "koordlet",
			Usage: &diagnostics.UsageHistory{StepMilliseconds: 30000, Moments: moments}}}
	}
	a, b := makeNode("a").NodeOverview, makeNode("b").NodeOverview
	sum := pastSum{past: past{asked: 3}, at: map[time.Time]*summed{}}
	sum.add(&a, agent(moment(0, 100), moment(30, 200)))
	sum.add(&b, agent(moment(31, 50), moment(60, 70))) // a reading late, which is the same moment
	sum.add(&b, &diagnostics.NodeExplanationStatus{})
	got := sum.result()
	if got.asked != 3 || got.answered != 2 || got.missing == "" || got.by != "koordlet" {
		t.Errorf("unexpected %d of %d, missing %q, by %q", got.answered, got.asked, got.missing, got.by)
	}
	if len(got.moments) != 1 || got.moments[0].Resources[history.CPU].Used != 250 {
		t.Errorf("%d moments, want the one of which both tell, with 250 used: %+v", len(got.moments), got.moments)
	}
}

// TestThePastOfManyNodesIsNotAskedFor: every agent of a large cluster would be asked at once.
func TestThePastOfManyNodesIsNotAskedFor(t *testing.T) {
	r := newRig(t, maxPastNodes+1).start().press(":chart", "enter")
	says(t, r.plain(), []string{"no recorded usage: not loaded for more than 100 nodes; j and k select one"}, nil)
	if got := r.src.Asked.Load(); got != 0 {
		t.Errorf("%d agents were asked", got)
	}
	r.press("j")
	says(t, r.plain(), []string{"recorded by koordlet"}, nil)
	if got := r.src.Asked.Load(); got != 1 {
		t.Errorf("%d agents were asked, want that of the node", got)
	}
}

// TestAChartWithoutAFeedOfThePastDrawsWhatWasWatched.
func TestAChartWithoutAFeedOfThePastDrawsWhatWasWatched(t *testing.T) {
	r := newRig(t, 3).start()
	r.pass(10 * time.Second)
	c := &chart{Model: r.m}
	drawn := c.chartOf("", history.CPU, 40)
	drawn.Unit = quantity.Cores
	if drawn.Recorded != 0 {
		t.Errorf("%d columns are recorded", drawn.Recorded)
	}
	if text := strings.Join(drawn.Draw(10, r.m.st), "\n"); !strings.Contains(text, "█") {
		t.Errorf("nothing is drawn:\n%s", text)
	}
}
