package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/cell"
)

func (r *rig) click(x, y int) { r.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }

func (r *rig) wheel(button tea.MouseButton) { r.send(tea.MouseWheelMsg{X: 9, Y: 9, Button: button}) }

func TestMouse(t *testing.T) {
	const firstRow = 5 // below the header, two lines of summary, the title and the names of the columns
	for name, tc := range map[string]struct {
		do   func(*rig)
		want seen
	}{
		"a click selects":               {func(r *rig) { r.click(3, firstRow+4) }, seen{Crumbs: "nodes", Selected: "node-0004"}},
		"the wheel moves the cursor":    {func(r *rig) { r.wheel(tea.MouseWheelDown) }, seen{Crumbs: "nodes", Selected: "node-0003"}},
		"the wheel stops at the top":    {func(r *rig) { r.wheel(tea.MouseWheelUp) }, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"the wheel has no left":         {func(r *rig) { r.wheel(tea.MouseWheelLeft) }, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"a click on the header is none": {func(r *rig) { r.click(3, firstRow-1) }, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"a click on the menu is none":   {func(r *rig) { r.click(3, 23) }, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"a double click opens":          {func(r *rig) { r.click(3, firstRow+4); r.click(3, firstRow+4) }, seen{Crumbs: "nodes > node-0004"}},
		"two clicks are none when slow": {func(r *rig) { r.click(3, firstRow); r.pass(time.Second); r.click(3, firstRow) }, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"nor on different rows":         {func(r *rig) { r.click(3, firstRow); r.click(3, firstRow+1) }, seen{Crumbs: "nodes", Selected: "node-0001"}},
		"the right button is not for us": {func(r *rig) {
			r.send(tea.MouseClickMsg{X: 3, Y: firstRow + 4, Button: tea.MouseRight})
		}, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"a prompt has the attention": {func(r *rig) { r.press("/"); r.click(3, firstRow+4) }, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"a click on a tab turns to it": {func(r *rig) { r.press("enter"); r.click(55, 4) },
			seen{Crumbs: "nodes > node-0000", Selected: "analytics/report-0000"}},
		"a click below the tabs selects a pod": {func(r *rig) { r.press("p"); r.click(3, 8) },
			seen{Crumbs: "nodes > node-0000", Selected: "analytics/spark-exec-0000"}},
		"a click where no answer is yet": {func(r *rig) { r.press(":explain shop/nope", "enter"); r.click(3, 8) }, seen{Crumbs: "nodes > shop/nope"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start()
			tc.do(r)
			r.lines()
			if diff := cmp.Diff(tc.want, r.seen()); diff != "" {
				t.Errorf("unexpected state (-want +got):\n%s", diff)
			}
		})
	}
}

// node is a node screen of which nothing is known yet.
func (r *rig) node() *node { return &node{Model: r.m, pods: r.m.newPodList(false)} }

// TestTabsFitTheNarrowestTerminal gives a node more and more pods, and points at each tab.
func TestTabsFitTheNarrowestTerminal(t *testing.T) {
	r := newRig(t, 30).start().press("enter")
	n := r.node()
	for _, pods := range []int{0, 9, 10, 110, 9999} {
		n.pods.value, n.pods.known = &diagnostics.PodOverviewList{Items: make([]diagnostics.PodOverview, pods)}, true
		for tab := range tabNames {
			r.m.page().tab = tab
			names := n.tabNames()
			line := n.drawTabs(names)
			if cell.Width(line) > minWidth {
				t.Errorf("with %d pods the tabs are %d wide", pods, cell.Width(line))
			}
			plain := ansi.Strip(line)
			from := strings.Index(plain, "["+names[tab]+"]")
			if got, end := n.tabAt(names, from), n.tabAt(names, from+len(names[tab])+1); from < 0 || got != tab || end != tab {
				t.Errorf("with %d pods, %q has tab %d from column %d, where a click turns to tab %d or %d", pods, plain, tab, from, got, end)
			}
		}
	}
}

func TestWheelScrollsTextAndZoomsTheChart(t *testing.T) {
	r := newRig(t, 30).start().press(":explain shop/search-reindex-0", "enter", "enter")
	r.wheel(tea.MouseWheelDown)
	if got := r.m.page().scroll; got != wheelLines {
		t.Errorf("scrolled to %d, want %d", got, wheelLines)
	}
	r.wheel(tea.MouseWheelUp)
	if got := r.m.page().scroll; got != 0 {
		t.Errorf("scrolled to %d, want back at the top", got)
	}
	r.press(":chart", "enter")
	whole := r.screen()
	r.wheel(tea.MouseWheelUp)
	if r.screen() == whole {
		t.Errorf("the wheel does not zoom in:\n%s", whole)
	}
	r.wheel(tea.MouseWheelDown)
	if diff := cmp.Diff(whole, r.screen()); diff != "" {
		t.Errorf("the wheel does not zoom out again (-want +got):\n%s", diff)
	}
}

// TestMouseIsOffUntilAskedFor: a terminal that reports the mouse cannot select text in the usual way.
func TestMouseIsOffUntilAskedFor(t *testing.T) {
	r := newRig(t, 30).start()
	for _, want := range []tea.MouseMode{tea.MouseModeNone, tea.MouseModeCellMotion, tea.MouseModeNone} {
		if got := r.m.View().MouseMode; got != want {
			t.Errorf("mouse mode %v, want %v", got, want)
		}
		r.press(":mouse", "enter")
	}
	m, err := newModel(t.Context(), Options{Source: r.src, Mouse: true}, plainLook)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.View().MouseMode; got != tea.MouseModeCellMotion {
		t.Errorf("mouse mode %v, the options ask for it", got)
	}
}

func TestTabsAreWhereTheyAreDrawn(t *testing.T) {
	r := newRig(t, 30).start().press("enter")
	n := r.node()
	for tab := range nodeTabs {
		r.m.page().tab = tab
		names := n.tabNames()
		line := n.drawTabs(names)
		seen := map[int]bool{}
		for x := range cell.Width(line) {
			seen[n.tabAt(names, x)] = true
		}
		if at := cell.Width(line[:strings.Index(line, "["+names[tab])]); n.tabAt(names, at) != tab {
			t.Errorf("tab %d is drawn at %d, where %d is found", tab, at, n.tabAt(names, at))
		}
		for i := range nodeTabs {
			if !seen[i] {
				t.Errorf("tab %d is nowhere in %q", i, line)
			}
		}
	}
}
