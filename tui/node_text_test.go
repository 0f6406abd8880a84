package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// explained is a node screen that received an explanation, on one of its tabs.
func explained(t *testing.T, b *nodeExplanationBuilder, tab int) *node {
	t.Helper()
	r := newRig(t, 30).start()
	r.run(r.m.openTab(nodeName, nodeObject(b.Name), tab))
	n := r.node()
	n.explanation.value, n.explanation.known = &b.NodeExplanation, true
	return n
}

// textOf is what a screen draws, without styles.
func textOf(lines []string) string { return ansi.Strip(strings.Join(lines, "\n")) }

// says checks that a text has all of want, in this order, and nothing of never.
func says(t *testing.T, text string, want, never []string) {
	t.Helper()
	rest := text
	for _, part := range want {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("lacks %q, or has it too early:\n%s", part, text)
			continue
		}
		rest = after
	}
	for _, part := range never {
		if strings.Contains(text, part) {
			t.Errorf("says %q:\n%s", part, text)
		}
	}
}

func TestTheTabsOfANode(t *testing.T) {
	const cpu = "kubernetes.io/batch-cpu"
	fall := func() *waterfallBuilder {
		return makeWaterfall(cpu).term(diagnostics.Start, "capacity", 32000).term(diagnostics.Minus, "systemUsed", 2000).term(diagnostics.Result, "batch", 30000)
	}
	for name, tc := range map[string]struct {
		node        *nodeExplanationBuilder
		tab         int
		unfolded    bool
		want, never []string
	}{
		"a waterfall and what the node publishes": {
			node: makeNodeExplanation("node-1").waterfall(fall()).published(cpu, diagnostics.InSync, new(int64(30000)), new(int64(30000)), ""),
			want: []string{"kubernetes.io/batch-cpu by policy usage", "TERM", "capacity", "32 cores", "system used", "2 cores", "batch", "30 cores", "node.status 30 cores  computed 30 cores", "in sync"},
		},
		"the node publishes nothing": {
			node: makeNodeExplanation("node-1").waterfall(fall()).published(cpu, diagnostics.NotPublished, nil, new(int64(30000)), "the manager has not written it yet"),
			want: []string{"node.status <none>  computed 30 cores", "not published", "the manager has not written it yet"},
		},
		"what was computed is unknown": {
			node: makeNodeExplanation("node-1").published(cpu, diagnostics.SyncUnknown, new(int64(9000)), nil, "the configuration cannot be read"),
			want: []string{cpu, "node.status 9 cores  computed -", "unknown", "the configuration cannot be read"}, never: []string{"TERM", "no data"},
		},
		"a write is due": {
			node: makeNodeExplanation("node-1").waterfall(fall()).published(cpu, diagnostics.Pending, new(int64(1000)), new(int64(30000)), ""),
			want: []string{"node.status 1 core", "pending"},
		},
		"it was taken back": {
			node: makeNodeExplanation("node-1").waterfall(fall()).published(cpu, diagnostics.Withdrawn, nil, new(int64(0)), "too old"),
			want: []string{"node.status <none>", "withdrawn", "too old"},
		},
		"the answer has no such resource": {
			node: makeNodeExplanation("node-1"), tab: 3, want: []string{"no data for mid-memory"}, never: []string{"TERM"},
		},
		"degraded": {
			node: makeNodeExplanation("node-1").waterfall(func() *waterfallBuilder { w := fall(); w.Degraded = true; return w }()),
			want: []string{"degraded: the input data is missing or too old", "TERM"},
		},
		"a note stands below its term": {
			node: makeNodeExplanation("node-1").waterfall(fall().last(func(t *diagnostics.Term) { t.Note = "rounded down" })),
			want: []string{"batch", "30 cores", "rounded down"},
		},
		"parts are folded at first": {
			node: makeNodeExplanation("node-1").waterfall(fall().last(func(t *diagnostics.Term) {
				t.Parts = []diagnostics.Term{{Name: "web-1", Value: 500, Unit: diagnostics.MilliCPU}}
			})),
			never: []string{"web-1"},
		},
		"and unfolded by enter": {
			node: makeNodeExplanation("node-1").waterfall(fall().last(func(t *diagnostics.Term) {
				t.Parts = []diagnostics.Term{{Name: "web-1", Value: 500, Unit: diagnostics.MilliCPU},
					{Name: "x", Value: 250, Unit: diagnostics.MilliCPU, Source: &diagnostics.SourceRef{Kind: "Pod", Namespace: "shop", Name: "web-2"}}}
				t.PartsOmitted = 7
			})),
			unfolded: true, want: []string{"0.5 cores  web-1", "0.25 cores  Pod/shop/web-2", "and 7 more"},
		},
		"settings": {
			node: makeNodeExplanation("node-1").setting("cpuReclaimThresholdPercent", "65", "cluster").setting("degradeTimeMinutes", "15", "default"),
			tab:  settingsTab, want: []string{"SETTING", "VALUE", "LAYER", "cpuReclaimThresholdPercent", "65", "cluster", "degradeTimeMinutes", "15", "default"},
		},
		"settings that are unknown": {node: makeNodeExplanation("node-1"), tab: settingsTab, want: []string{"the configuration in effect is unknown"}, never: []string{"SETTING"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := explained(t, tc.node, tc.tab)
			n.page().unfolded = tc.unfolded
			for _, width := range []int{minWidth, 160} {
				text := textOf(n.nodeText(width))
				says(t, text, tc.want, tc.never)
				for line := range strings.Lines(text) {
					if len([]rune(strings.TrimRight(line, "\n"))) > width {
						t.Errorf("a line is wider than %d: %q", width, line)
					}
				}
			}
		})
	}
}

// TestNarrowWaterfallsKeepTheirSources: the bars only draw what the values say.
func TestNarrowWaterfallsKeepTheirSources(t *testing.T) {
	fall := makeWaterfall("kubernetes.io/batch-cpu").term(diagnostics.Start, "capacity", 32000).
		last(func(t *diagnostics.Term) {
			t.Source = &diagnostics.SourceRef{Kind: "NodeMetric", Name: "node-1", Field: "status.nodeMetric.systemUsage"}
		})
	n := explained(t, makeNodeExplanation("node-1").waterfall(fall), 0)
	narrow, wide := n.termColumnsFor(fall.Terms, minWidth), n.termColumnsFor(fall.Terms, 160)
	if narrow.bar != 0 || narrow.source < len("NodeMetric status.nodeMetric.systemUsage") {
		t.Errorf("on %d columns the source has %d and the bar %d", minWidth, narrow.source, narrow.bar)
	}
	if wide.bar < leastBar {
		t.Errorf("on 160 columns the bar has %d", wide.bar)
	}
	says(t, textOf(n.nodeText(minWidth)), []string{"NodeMetric status.nodeMetric.systemUsage"}, []string{"█"})
	says(t, textOf(n.nodeText(160)), []string{"█", "NodeMetric status.nodeMetric.systemUsage"}, nil)
}

func TestTheHeadOfANodeThatIsNotListed(t *testing.T) {
	n := explained(t, makeNodeExplanation("gone"), 0)
	if lines := n.drawHead(minWidth); len(lines) != nodeHead {
		t.Errorf("%d lines, want %d whatever is known", len(lines), nodeHead)
	}
}
