package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/grid"
)

func nodeTableOf(rows ...nodeRow) *grid.Table[nodeRow] {
	table := newNodeTable(builtNow)
	table.SetRows(rows)
	return table
}

func TestCellsOfANode(t *testing.T) {
	for name, tc := range map[string]struct {
		node *nodeBuilder
		want map[string]string
	}{
		"all is known": {
			makeNode("ip-10-0-1-2").uses(8000, 2000, 1000).requests(16000).batch(10000, 4000).mid(3000, 1000),
			map[string]string{"NAME": "ip-10-0-1-2", "CPU%": "34%", "BATCH-CPU": "4/10", "PROD-CPU": "8/16", "MID-CPU": "1/3", "PODS": "4", "AGE": "10s"},
		},
		"nothing is measured": {
			makeNode("a").unreported(diagnostics.MetricAbsent).load(diagnostics.LoadUnknown, ""),
			map[string]string{"CPU%": "-", "BATCH-CPU": "-", "PROD-CPU": "-/-", "MID-CPU": "-", "RECLAIM": "-", "AGE": "<none>"},
		},
		"pods may not be listed":        {makeNode("a").pods(nil), map[string]string{"PODS": "-"}},
		"no pods":                       {makeNode("a").pods(new(int32(0))), map[string]string{"PODS": "0"}},
		"offered, and nobody asks":      {makeNode("a").batch(10000, 0), map[string]string{"BATCH-CPU": "0/10"}},
		"nothing is offered":            {makeNode("a").batch(0, 0), map[string]string{"BATCH-CPU": "0/0"}},
		"old measurements":              {makeNode("a").metric(diagnostics.MetricExpired, 23*time.Minute), map[string]string{"AGE": "23m"}},
		"whether there is one, unknown": {makeNode("a").unreported(diagnostics.MetricUnknown), map[string]string{"AGE": "-"}},
	} {
		t.Run(name, func(t *testing.T) {
			row := tc.node.row()
			cells := cellsOf(nodeColumns(builtNow), &row)
			got := map[string]string{}
			for title := range tc.want {
				got[title] = cells[title]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected cells (-want +got):\n%s\nall: %v", diff, cells)
			}
		})
	}
}

// TestNodesAreOrdered by every column that has a key: what is not known has its own place, not that of zero.
func TestNodesAreOrdered(t *testing.T) {
	rows := []nodeRow{
		makeNode("busy").uses(20000, 0, 1000).requests(4000).batch(2000, 0).pods(new(int32(9))).load(diagnostics.LoadHot, "").row(),
		makeNode("idle").uses(0, 0, 0).requests(0).batch(0, 0).pods(new(int32(0))).metric(diagnostics.MetricFresh, time.Second).row(),
		makeNode("new").unreported(diagnostics.MetricAbsent).load(diagnostics.LoadUnknown, "").pods(nil).row(),
		makeNode("old").uses(4000, 0, 0).requests(8000).batch(9000, 0).pods(new(int32(3))).metric(diagnostics.MetricExpired, time.Hour).row(),
	}
	for name, tc := range map[string]struct {
		title        string
		largestFirst bool
		want         string
	}{
		"by name":                 {"NAME", false, "busy idle new old"},
		"the gravest state first": {"STATE", true, "busy old new idle"},
		"the busiest first, what is unknown last": {"CPU", true, "busy old idle new"},
		"the most offered first":                  {"BATCH-CPU", true, "old busy idle new"},
		"the most pods first, the uncounted last": {"PODS", true, "busy old idle new"},
		"the oldest data first, none is older":    {"AGE", true, "new old busy idle"},
		"the most requested first":                {"PROD-CPU", true, "old busy idle new"},
	} {
		t.Run(name, func(t *testing.T) {
			table := nodeTableOf(rows...)
			if tc.title == "NAME" {
				table.SortBy("CPU", true) // by name is the order at first, which the key would reverse
			}
			if got := strings.Join(orderBy(table, tc.title, tc.largestFirst), " "); got != tc.want {
				t.Errorf("unexpected order %q, want %q", got, tc.want)
			}
		})
	}
}

// TestEverySortKeyOfNodesNamesAColumn: a key whose title is misspelt would do nothing.
func TestEverySortKeyOfNodesNamesAColumn(t *testing.T) {
	for _, name := range []string{nodesName, podsName} {
		for _, a := range newRig(t, 1).m.screenOf(name).keys {
			if a.group != groupSort {
				continue
			}
			r := newRig(t, 30).start().openScreen(name)
			r.resize(200, 40)
			r.press("j", "j", "ctrl+z")
			r.press(a.Keys()[0])
			title := strings.TrimPrefix(a.Help().Desc, "by ")
			if text := r.plain(); !strings.Contains(text, title+"↑") && !strings.Contains(text, title+"↓") {
				t.Errorf("%s: %s does not mark the column %s:\n%s", name, a.Help().Key, title, text)
			}
		}
	}
}
