package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/story"
)

func TestTheHeaderNamesTheClusterOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		cluster     source.Cluster
		readOnly    bool
		want, never []string
	}{
		"all names differ":             {source.Cluster{Context: "prod", Name: "east", User: "eve", ServerVersion: "v1.36.3"}, true, []string{"koord v0.1.0 · prod · east · v1.36.3 · eve", "read-only"}, nil},
		"they are all the same":        {source.Cluster{Context: "prod", Name: "prod", User: "prod", ServerVersion: "v1.36.3"}, false, []string{"koord v0.1.0 · prod · v1.36.3 "}, []string{"prod · prod", "read-only"}},
		"nothing is known yet":         {source.Cluster{}, false, []string{"koord v0.1.0 "}, []string{"· ·"}},
		"in a pod without a context":   {source.Cluster{User: "system:serviceaccount:a:b"}, false, []string{"koord v0.1.0 · system:serviceaccount:a:b"}, nil},
		"a name that moves the cursor": {source.Cluster{Context: "a\x1b[2Jb"}, false, []string{"a [2Jb"}, []string{"\x1b[2J"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			r.m.cluster.value, r.m.readOnly = tc.cluster, tc.readOnly
			says(t, ansi.Strip(r.m.drawHeader(120)), tc.want, tc.never)
		})
	}
}

func TestFreshness(t *testing.T) {
	for name, tc := range map[string]struct {
		since time.Duration
		state feedState
		want  string
	}{
		"asked, no answer":            {0, feedState{busy: true}, "◌ loading"},
		"asked, and it failed":        {0, feedState{err: errPlain}, "✗ no data"},
		"just answered":               {0, feedState{known: true}, "● 0s ago"},
		"one refresh was missed":      {5 * time.Second, feedState{known: true}, "● 5s ago"},
		"it is stale after three":     {7 * time.Second, feedState{known: true}, "◌ stale, 7s ago"},
		"and stays so for long":       {3 * time.Hour, feedState{known: true}, "◌ stale, 3h"},
		"an error with data is stale": {time.Minute, feedState{known: true, err: errPlain}, "◌ stale, "},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			tc.state.at = r.clock.Now().Add(-tc.since)
			r.m.nodes.feedState, r.m.nodes.value = tc.state, &diagnostics.NodeOverviewList{}
			if got := ansi.Strip(r.m.freshness()); !strings.HasPrefix(got, tc.want) {
				t.Errorf("unexpected %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTheSummaryOfAResource(t *testing.T) {
	whole := story.Of(makeNode("a").uses(8000, 2000, 1000).requests(16000).batch(10000, 4000).CPU)
	unlisted := story.Of(makeNode("a").uses(8000, 2000, 1000).batch(10000, 4000).CPU)
	unmeasured := story.Of(makeNode("a").requests(16000).batch(10000, 4000).CPU)
	for name, tc := range map[string]struct {
		parts       story.Parts
		width       int
		want, never []string
	}{
		"in full":            {whole, 200, []string{"cpu ", "32 cores · prod requests 16 (50%) → uses 8 (25%) → batch offered 10, used 2"}, nil},
		"short":              {whole, 80, []string{"cpu ", "prod req 16 → used 8 (25%) → batch 2/10"}, []string{"offered"}},
		"pods are unlisted":  {unlisted, 200, []string{"prod requests unknown → uses 8"}, []string{"requests 0"}},
		"usage is unknown":   {unmeasured, 200, []string{"prod requests 16 (50%) → uses unknown → batch offered 10, used unknown"}, []string{"uses 0"}},
		"no nodes, no story": {story.Parts{}, 80, []string{"cpu ╌╌╌"}, []string{"prod"}},
		"no room for a bar":  {whole, 44, []string{"cpu prod req 16"}, []string{"█"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			line := ansi.Strip(r.m.summaryLine("cpu", tc.parts, quantity.Cores, " cores", tc.width))
			says(t, line, tc.want, tc.never)
			if n := len([]rune(line)); n > tc.width {
				t.Errorf("%d cells of %d: %q", n, tc.width, line)
			}
		})
	}
}

func TestTheCensusCountsWhatNeedsAttention(t *testing.T) {
	for name, tc := range map[string]struct {
		summary summary
		unknown []diagnostics.UnknownInput
		known   bool
		want    string
	}{
		"before the first answer": {summary{}, nil, false, "  nodes unknown"},
		"one node, all is well":   {summary{nodes: 1}, nil, true, "  1 node"},
		"no nodes":                {summary{nodes: 0}, nil, true, "  0 nodes"},
		"every kind of trouble":   {summary{nodes: 9, hot: 1, late: 2, unseen: 3, notReady: 1}, nil, true, "  9 nodes  ▲ 1 hot  ◌ 2 with stale data  ? 3 without data  ✗ 1 not ready"},
		"measurements may not be read": {summary{nodes: 9, unseen: 9}, []diagnostics.UnknownInput{{Input: "nodemetrics.slo.koordinator.sh", Reason: diagnostics.UnknownForbidden}},
			true, "  9 nodes  ? 9 with unknown load"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			r.m.summary, r.m.nodes.known = tc.summary, tc.known
			r.m.nodes.value = &diagnostics.NodeOverviewList{Unknown: tc.unknown}
			if got := ansi.Strip(r.m.census()); got != tc.want {
				t.Errorf("unexpected census %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTitles(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"a table counts its rows":               {nil, "─ nodes[30] ─"},
		"of how many, when filtered":            {[]string{"/00[01]", "enter"}, "─ nodes[20 of 30] /00[01] ─"},
		"only problems":                         {[]string{"ctrl+z"}, "─ nodes[5 of 30] only problems ─"},
		"wide":                                  {[]string{"ctrl+w"}, "─ nodes[30] wide ─"},
		"all at once":                           {[]string{"/00", "enter", "ctrl+z", "ctrl+w"}, "─ nodes[5 of 30] /00 only problems wide ─"},
		"the namespace of pods":                 {[]string{":pods shop", "enter"}, "─ pods(shop)[91] ─"},
		"a text says where it is":               {[]string{"y"}, "─ yaml node node-0000 lines 1-20 of "},
		"and where it is scrolled to":           {[]string{"y", "j", "j"}, "lines 3-22 of "},
		"what has no rows yet keeps its filter": {[]string{"/x", "enter", "/", "esc"}, "/x"},
		"a sum that lacks nodes":                {[]string{":chart", "enter"}, "─ chart(cluster) measured on 28 of 30 nodes ─"},
		"a chart of a node":                     {[]string{"v"}, "─ chart(node-0000) ─"},
		"a pod":                                 {[]string{":explain shop/search-0003", "enter"}, "─ pod shop/search-0003 ─"},
		"a described pod":                       {[]string{":d shop/search-0003", "enter"}, "─ describe pod shop/search-0003 ─"},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, newRig(t, 30).start().press(tc.keys...).plain(), []string{tc.want}, nil)
		})
	}
}

func TestPlurals(t *testing.T) {
	for n, want := range map[int]string{0: "0 nodes", 1: "1 node", 2: "2 nodes"} {
		if got := plural(n, "node"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
