package tui

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
	"koordinator.sh/koord/tui/internal/fixture"
)

// vacant is a cluster whose nodes have no pods to drain.
type vacant struct{ fixture.Source }

func (v vacant) ForecastDrain(_ context.Context, q source.DrainQuery) (*diagnostics.DrainForecast, error) {
	return objects.NewDrain(&objects.DrainSnapshot{Drained: q.Names}).Answer(nil), nil
}

// drained answers with one forecast of a drain.
type drained struct {
	fixture.Source
	answer *diagnostics.DrainForecast
}

func (d drained) ForecastDrain(context.Context, source.DrainQuery) (*diagnostics.DrainForecast, error) {
	return d.answer, nil
}

// TestADrainLeadsToItsObjects, and asks about nothing of the table where it is not shown.
func TestADrainLeadsToItsObjects(t *testing.T) {
	for name, tc := range map[string]struct {
		keys       []string
		want, says string
	}{
		"the pod":                           {[]string{"j", "x"}, "nodes > drain node-0006 > shop/search-0006", ""},
		"the node that it leaves":           {[]string{"n"}, "nodes > drain node-0006 > node-0006", ""},
		"the node that it gets":             {[]string{"j", "t"}, "nodes > drain node-0006 > node-0012", ""},
		"no node takes it":                  {[]string{"t"}, "nodes > drain node-0006", "the node is not known"},
		"described":                         {[]string{"j", "d"}, "nodes > drain node-0006 > describe pod shop/search-0006", ""},
		"only problems":                     {[]string{"ctrl+z", "G", "x"}, "nodes > drain node-0006 > analytics/report-0006", ""},
		"filtered by its reason":            {[]string{"/budget", "enter", "x"}, "nodes > drain node-0006 > shop/search-0006", ""},
		"a row that is not left":            {[]string{"/nothing", "enter", "t"}, "nodes > drain node-0006", ""},
		"no pod is seen in the other tab":   {[]string{"tab", "enter", "n", "t", "d", "y"}, "nodes > drain node-0006", ""},
		"the tabs turn around":              {[]string{"tab", "tab", "j", "x"}, "nodes > drain node-0006 > shop/search-0006", ""},
		"the tab before the first one":      {[]string{"shift+tab", "x"}, "nodes > drain node-0006", ""},
		"a tab of another page is not kept": {[]string{"tab", ":drain node-0007", "enter", "x"}, "nodes > drain node-0006 > drain node-0007 > shop/search-0007", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(":drain node-0006", "enter").press(tc.keys...)
			if got := r.crumbs(); got != tc.want || r.m.flash.text != tc.says {
				t.Errorf("leads to %q and says %q, want %q and %q", got, r.m.flash.text, tc.want, tc.says)
			}
		})
	}
}

func TestTheTabsOfADrainAreClickedOn(t *testing.T) {
	r := newRig(t, 30).start().press(":mouse", "enter", ":drain node-0006", "enter")
	for _, want := range []string{"[cluster]", "[pods(6)]"} {
		name := strings.Trim(want, "[]")
		for y, line := range r.lines() {
			if at := strings.Index(ansi.Strip(line), name); at >= 0 && strings.Contains(line, "cluster") && !strings.Contains(r.screen(), want) {
				r.send(tea.MouseClickMsg{X: at, Y: y, Button: tea.MouseLeft})
			}
		}
		says(t, r.plain(), []string{want}, nil)
	}
}

// TestWhichDrainsCannotBeAskedAbout: a node has to be named, and a source has to forecast drains.
func TestWhichDrainsCannotBeAskedAbout(t *testing.T) {
	r := newRig(t, 30).start().press(":drain", "enter")
	if got := r.seen(); got.Crumbs != nodesName || got.Flash != "node name required: :drain NODE" {
		t.Errorf("unexpected %+v", got)
	}
	r.m.source = struct{ source.Source }{r.src}
	says(t, r.press(":drain node-0006", "enter").plain(), []string{"error: forecast drains: not available from this source"}, nil)
}

// TestPodsOfADrain say what becomes of them; those that do not come back, or hold up the drain, are problems.
func TestPodsOfADrain(t *testing.T) {
	pod := func(place diagnostics.DrainPlace, change func(*diagnostics.DrainedPod)) diagnostics.DrainedPod {
		p := diagnostics.DrainedPod{Namespace: "shop", Name: "web-1", Node: "node-1", Owner: "ReplicaSet/web", Action: diagnostics.DrainEvict, Round: 1, Place: place, Budget: "web"}
		if place == diagnostics.DrainPlaceFound {
			p.To = "node-2"
		}
		change(&p)
		return p
	}
	for name, tc := range map[string]struct {
		pod         diagnostics.DrainedPod
		want, never []string
	}{
		"it gets a node": {pod(diagnostics.DrainPlaceFound, func(p *diagnostics.DrainedPod) { p.Summary = "1/2 nodes are available" }),
			[]string{"1 shop/web-1", "node-1", "node-2", "web", "ReplicaSet/web"}, []string{"available", "problems"}},
		"it waits for others": {pod(diagnostics.DrainPlaceFound, func(p *diagnostics.DrainedPod) { p.Round = 2 }), []string{"2 shop/web-1"}, []string{"problems"}},
		"no node takes it": {pod(diagnostics.DrainPlaceNone, func(p *diagnostics.DrainedPod) { p.Summary = "0/2 nodes are available" }),
			[]string{"1 shop/web-1", "<none>", "0/2 nodes are available", "problems"}, nil},
		"it is blocked": {pod(diagnostics.DrainPlaceFound, func(p *diagnostics.DrainedPod) { p.Round, p.Blocked = 0, "no disruption" }),
			[]string{"blocked shop/web-1", "no disruption", "problems"}, nil},
		"it is not created again": {pod(diagnostics.DrainPlaceLost, func(p *diagnostics.DrainedPod) { p.Owner, p.Flags = "", []string{"--force"} }), []string{"<lost>", " - ", "--force", "problems"}, nil},
		"it ended":                {pod(diagnostics.DrainPlaceDone, func(*diagnostics.DrainedPod) {}), []string{"<done>"}, []string{"problems"}},
		"where it goes is unknown": {pod(diagnostics.DrainPlaceUnknown, func(p *diagnostics.DrainedPod) { p.Summary = "another scheduler" }),
			[]string{"<unknown>", "another scheduler", "problems"}, nil},
		"it stays": {pod("", func(p *diagnostics.DrainedPod) {
			p.Action, p.Round, p.Reason, p.Budget = diagnostics.DrainSkip, 0, "DaemonSet web runs it on every node", ""
		}), []string{"stays shop/web-1", "node-1", "node-1", "DaemonSet web"}, []string{"problems"}},
	} {
		t.Run(name, func(t *testing.T) {
			table := newDrainTable()
			table.ToggleWide()
			table.SetSize(200, 9)
			table.SetRows(drainRows(&diagnostics.DrainForecast{Pods: []diagnostics.DrainedPod{tc.pod}}))
			out := textOf(table.Draw(200, 9, true, newRig(t, 1).m.st))
			if table.ToggleProblems(); table.Len() == 1 {
				out += "\nproblems"
			}
			says(t, out, tc.want, tc.never)
		})
	}
}

// TestTheHeadOfADrain is as long as the answer, and never longer than five lines and a blank.
func TestTheHeadOfADrain(t *testing.T) {
	for name, tc := range map[string]struct {
		message string
		lines   int
		want    string
	}{
		"short":              {"0 pods evicted", 4, "0 pods evicted"},
		"as long as it gets": {strings.Repeat("pods are evicted, ", 12), 6, "pods are evicted"},
		"longer":             {strings.Repeat("pods are evicted, ", 40), 6, "…"},
		"hostile":            {"a\x1b[2Jb\r\nc\rd", 4, "a [2Jb"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30)
			r.src.Source = drained{r.src.Source, &diagnostics.DrainForecast{
				Verdict: "Completes\x1b[2J", Message: tc.message, Command: "kubectl drain\x1b[2J " + tc.message,
				Pods: []diagnostics.DrainedPod{{Namespace: "shop", Name: "web\x1b[2J", To: "n\r\n", Place: diagnostics.DrainPlaceFound, Blocked: "b\x1b[2J"}}, Notes: []string{"a\x1b[2J\nb"},
			}}
			r.start().press(":drain node-0006", "enter")
			if got := r.m.page().content().headLines; got != tc.lines {
				t.Errorf("%d lines, want %d", got, tc.lines)
			}
			says(t, r.plain(), []string{tc.want, "[pods(1)]"}, nil)
			for _, screen := range []string{r.screen(), r.press("tab").screen()} {
				if strings.Contains(screen, "\x1b[2J") || strings.Contains(screen, "\r") {
					t.Errorf("a text reaches the terminal unchanged:\n%q", screen)
				}
			}
		})
	}
}
