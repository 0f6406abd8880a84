package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
	"koordinator.sh/koord/tui/internal/fixture"
)

// unasked is a cluster whose scheduler does not answer.
type unasked struct{ fixture.Source }

func (u unasked) ForecastPlacement(context.Context, source.PlacementQuery) (*diagnostics.PlacementForecast, error) {
	f := objects.ForecastPlacement(&objects.PlacementSnapshot{}, nil, nil)
	f.Findings = []diagnostics.Finding{{Code: "KOORD0005", Severity: diagnostics.SeverityWarning, Message: "koord-scheduler did not respond: connection refused", Hint: "kubectl get lease -A | grep scheduler"}}
	return f, nil
}

// placed answers with one forecast of a placement, and keeps the question.
type placed struct {
	fixture.Source
	answer *diagnostics.PlacementForecast
	asked  source.PlacementQuery
}

func (p *placed) ForecastPlacement(_ context.Context, q source.PlacementQuery) (*diagnostics.PlacementForecast, error) {
	p.asked = q
	return p.answer, nil
}

// forecastOf is what a screen shows of a forecast, on a terminal that is high enough for all of it.
func forecastOf(t *testing.T, f *diagnostics.PlacementForecast, keys ...string) string {
	t.Helper()
	r := newRig(t, 30)
	r.src.Source = &placed{Source: r.src.Source, answer: f}
	r.resize(minWidth, 90)
	return r.start().press(keys...).plain()
}

// copiesOf is an answer about copies of a pod.
func copiesOf(verdict diagnostics.PlacementForecastVerdict, change func(*diagnostics.PlacementForecast)) *diagnostics.PlacementForecast {
	f := &diagnostics.PlacementForecast{
		Verdict: verdict, Message: "2 more pods fit", Copies: &diagnostics.CopiesPlacement{
			Placed: 2, Nodes: []diagnostics.CopiesOnNode{{Name: "node-1", Copies: 1}, {Name: "node-2", Copies: 1}},
			Groups: []diagnostics.RefusalGroup{{Plugin: "ElasticQuota", Code: "KOORD1301", Class: "quota", Count: 30, Sole: 29, Reason: "Insufficient quotas",
				Message: "quota shop: used 10 + this pod 2 > max 11 cores", Nodes: []diagnostics.NodeRefusal{{Node: "node-1", Message: "quota shop"}}}},
		},
		Capacity: []diagnostics.ForecastCapacity{{Resource: "cpu", Unit: diagnostics.MilliCPU, Allocatable: 64000, RequestedBefore: 32000, RequestedAfter: 48000}},
		Notes:    []string{"new pods are like web-1"},
		Findings: []diagnostics.Finding{{Code: "KOORD0704", Severity: diagnostics.SeverityError, Message: "a finding"}},
	}
	change(f)
	return f
}

func TestCapacityForAPod(t *testing.T) {
	same := func(*diagnostics.PlacementForecast) {}
	for name, tc := range map[string]struct {
		answer      *diagnostics.PlacementForecast
		keys        []string
		want, never []string
	}{
		"some fit": {copiesOf(diagnostics.PlacementFits, same), nil,
			[]string{"✓ Fits  shop/web-1", "2 more pods fit", nothingChanged, "Reasons against one more", "NODES   SOLE  REASON", "30     29  quota shop: used 10", "ElasticQuota KOORD1301 quota",
				"Cluster", "cpu            64         50%        75%", "Nodes that take new pods", "node-1", "1", "node-2", "1", "new pods are like web-1"},
			[]string{"a finding", "node-1: quota shop", "more;"}},
		"with the nodes of each reason": {copiesOf(diagnostics.PlacementFits, same), []string{"enter"}, []string{"node-1: quota shop", "and 29 more nodes"}, nil},
		"folded again":                  {copiesOf(diagnostics.PlacementFits, same), []string{"enter", "enter"}, nil, []string{"node-1: quota shop"}},
		"all that were asked about": {copiesOf(diagnostics.PlacementFits, func(f *diagnostics.PlacementForecast) { f.Copies.Groups = nil }), nil,
			[]string{"✓ Fits"}, []string{"Reasons"}},
		"none": {copiesOf(diagnostics.PlacementFull, func(f *diagnostics.PlacementForecast) { f.Copies.Nodes = nil }), nil,
			[]string{"✗ Full", "Reasons against one more", "Cluster"}, []string{"Nodes that take"}},
		"on many nodes": {copiesOf(diagnostics.PlacementFits, func(f *diagnostics.PlacementForecast) {
			for i := range 40 {
				f.Copies.Nodes = append(f.Copies.Nodes, diagnostics.CopiesOnNode{Name: fixture.NodeName(i), Copies: 3})
			}
		}), nil, []string{"node-0000", "node-0039       3"}, []string{"-o wide"}},
		"unknown": {&diagnostics.PlacementForecast{Verdict: diagnostics.PlacementUnknown, Message: "koord-scheduler could not be asked",
			Findings: []diagnostics.Finding{{Code: "KOORD0005", Severity: diagnostics.SeverityWarning, Message: "it did not respond", Hint: "koordctl status"}}}, nil,
			[]string{"▲ Unknown  shop/web-1", "koord-scheduler could not be asked", "warning: it did not respond", "hint: koordctl status", "KOORD0005"}, []string{"Cluster", "Nodes that", "Reasons"}},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, forecastOf(t, tc.answer, append([]string{":capacity shop/web-1", "enter"}, tc.keys...)...), tc.want, tc.never)
		})
	}
}

// TestAHostileForecastStaysHarmless: no text of it reaches the terminal unchanged.
func TestAHostileForecastStaysHarmless(t *testing.T) {
	const evil = "a\x1b[2J\r\nb"
	f := copiesOf(diagnostics.PlacementFits+evil, func(f *diagnostics.PlacementForecast) {
		f.Message, f.Notes, f.Incomplete, f.Capacity[0].Resource, f.Copies.Nodes[0].Name = evil, []string{evil}, []string{evil}, evil, evil
		g := &f.Copies.Groups[0]
		g.Message, g.Plugin, g.Code, g.Reason, g.Nodes[0].Node, g.Nodes[0].Message = evil, evil, evil, evil, evil, evil
	})
	r := newRig(t, 30)
	r.src.Source = &placed{Source: r.src.Source, answer: f}
	r.resize(minWidth, 90)
	if text := r.start().press(":capacity shop/web-1", "enter", "enter").screen(); strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\r") || !strings.Contains(text, "a [2J") {
		t.Errorf("a text reaches the terminal unchanged, or not at all:\n%q", text)
	}
}

// TestWhichCapacityIsAskedFor: that for the named pod, counted up to as many as the command line counts.
func TestWhichCapacityIsAskedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		line, crumbs, says string
		want               source.CopiedPods
	}{
		"a pod":                      {":capacity shop/web-1", "nodes > capacity shop/web-1", "", source.CopiedPods{Kind: source.KindPod, Namespace: "shop", Name: "web-1", Most: 200}},
		"of the context's namespace": {":capacity web-1", "nodes > capacity default/web-1", "", source.CopiedPods{Kind: source.KindPod, Namespace: "default", Name: "web-1", Most: 200}},
		"none":                       {":capacity", "nodes", "pod name required: :capacity NAMESPACE/POD", source.CopiedPods{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30)
			p := &placed{Source: r.src.Source, answer: copiesOf(diagnostics.PlacementFits, func(*diagnostics.PlacementForecast) {})}
			r.src.Source = p
			if r.start().press(tc.line, "enter"); r.crumbs() != tc.crumbs || r.m.flash.text != tc.says || p.asked.Copied != tc.want {
				t.Errorf("leads to %q, says %q and asks %+v", r.crumbs(), r.m.flash.text, p.asked.Copied)
			}
		})
	}
	r := newRig(t, 30).start()
	r.m.source = struct{ source.Source }{r.src}
	says(t, r.press(":capacity shop/web-1", "enter").plain(), []string{"error: forecast placements: not available from this source"}, nil)
}

// TestCapacityLeadsToItsPod.
func TestCapacityLeadsToItsPod(t *testing.T) {
	for key, want := range map[string]string{
		"x": "nodes > capacity shop/search-0003 > shop/search-0003", "p": "nodes > capacity shop/search-0003 > shop/search-0003",
		"d": "nodes > capacity shop/search-0003 > describe pod shop/search-0003", "y": "nodes > capacity shop/search-0003 > yaml pod shop/search-0003",
	} {
		if got := newRig(t, 30).start().press(":capacity shop/search-0003", "enter", key).crumbs(); got != want {
			t.Errorf("%s leads to %q, want %q", key, got, want)
		}
	}
}

// TestAPodThatIsGoneIsNotCopied: the forecast of before stays, and the screen says that.
func TestAPodThatIsGoneIsNotCopied(t *testing.T) {
	r, a := rearrangeable(t)
	r.start().openScreen(capacityName)
	a.gone = r.m.page().about.key()
	r.reload(20 * time.Second)
	says(t, r.plain(), []string{"stale, 20s ago", "data of 20s ago", "not found", "KOORD0003", "Fits"}, []string{"error:"})
}
