package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// TestTheWayBackIsBounded: the first page stays, the oldest after it go.
func TestTheWayBackIsBounded(t *testing.T) {
	r := newRig(t, 30).start()
	for i := range maxPages + 10 {
		r.press(fmt.Sprintf(":node node-%04d", i%30), "enter")
	}
	if got := len(r.m.pages); got != maxPages {
		t.Errorf("%d pages, want %d", got, maxPages)
	}
	if got := r.m.pages[0].screen.name; got != nodesName {
		t.Errorf("the first page is %s", got)
	}
	for range maxPages {
		r.press("esc")
	}
	if got := r.crumbs(); got != "nodes" || r.quit {
		t.Errorf("esc leads to %q", got)
	}
}

func TestAnUnknownScreenIsNotOpened(t *testing.T) {
	r := newRig(t, 30).start()
	r.run(r.m.open("frob", object{}))
	if got := r.seen(); got.Crumbs != "nodes" || got.Flash != `no screen "frob"` {
		t.Errorf("unexpected %+v", got)
	}
}

func TestObjectsReadAsKubectlWritesThem(t *testing.T) {
	for want, o := range map[string]object{"node node-1": nodeObject("node-1"), "pod shop/web-1": podObject("shop", "web-1")} {
		if got := o.String(); got != want {
			t.Errorf("unexpected %q, want %q", got, want)
		}
	}
}

// TestAFilterBelongsToItsTable: it is there again when the page is.
func TestAFilterBelongsToItsTable(t *testing.T) {
	r := newRig(t, 30).start().press("/0011", "enter", ":pods", "enter")
	if got := r.m.table().Filter(); got != "" {
		t.Errorf("the filter of the nodes is that of the pods: %q", got)
	}
	r.press("esc")
	if got := r.m.table().Filter(); got != "0011" {
		t.Errorf("the filter is %q after coming back", got)
	}
	if r.press("esc"); r.m.table().Filter() != "" || r.quit {
		t.Error("esc does not clear the filter first")
	}
}

// TestSelectedLabelsAreAskedForAgain with every refresh: rows come and go.
func TestSelectedLabelsAreAskedForAgain(t *testing.T) {
	r := newRig(t, 30)
	counted := &counting{Source: r.src.Source}
	r.src.Source = counted
	r.start().press("/-l pool=gpu", "enter")
	asked := counted.asked.Load()
	r.pass(r.m.interval)
	if got := counted.asked.Load() - asked; got != 2 {
		t.Errorf("%d questions in a refresh, want the nodes and those with the labels", got)
	}
	r.src.Err = errUnreachable
	r.pass(r.m.interval)
	says(t, r.plain(), []string{"nodes[10 of 30]"}, nil)
}

// TestAnotherNamespaceForgetsTheSelection: the pods of one with a label are not those of another.
func TestAnotherNamespaceForgetsTheSelection(t *testing.T) {
	r := newRig(t, 30).start().press(":pods shop app=search", "enter")
	if got := r.m.table().Len(); got != 30 {
		t.Fatalf("%d pods of shop, want 30", got)
	}
	r.hold = true
	r.press(":ns analytics", "enter")
	if got := r.m.table().Len(); got != 0 {
		t.Errorf("%d pods before the labels of this namespace are known", got)
	}
	r.release()
	says(t, r.plain(), []string{"pods(analytics)", "none of", "matches /-l app=search", "esc clears the filter"}, nil)
}

func TestAQuestionEndsInTime(t *testing.T) {
	r := newRig(t, 1)
	var f feed[int]
	ctx, cancel := context.WithCancel(t.Context())
	r.m.ctx = ctx
	cmd := ask(r.m, &f, "slow", func(ctx context.Context) (int, error) {
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > askTimeout {
			t.Error("the question has no deadline")
		}
		cancel()
		<-ctx.Done()
		return 0, fmt.Errorf("get: %w", context.DeadlineExceeded)
	})
	for _, c := range cmd().(tea.BatchMsg) {
		if a, ok := c().(answer[int]); ok {
			a.deliver()
		}
	}
	if f.err == nil || !strings.HasPrefix(f.err.Error(), "no response within 20s: get: ") || !errors.Is(f.err, context.DeadlineExceeded) {
		t.Errorf("unexpected error %v", f.err)
	}
}

// TestWaitingEndsWithTheProgram: a command that waits must not outlive it.
func TestWaitingEndsWithTheProgram(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan tea.Msg, 1)
	go func() { done <- after(ctx, time.Hour, refreshMsg{})() }()
	cancel()
	select {
	case msg := <-done:
		if msg != nil {
			t.Errorf("delivers %v", msg)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it still waits")
	}
	if msg := after(t.Context(), 0, refreshMsg{})(); msg != (refreshMsg{}) {
		t.Errorf("delivers %v when it is due", msg)
	}
}

// TestAFeedThatNeverAnsweredHasNoAge.
func TestAFeedThatNeverAnsweredHasNoAge(t *testing.T) {
	var f feedState
	if got := f.age(builtAt); got != 0 {
		t.Errorf("it is %s old", got)
	}
	if f.skeleton(builtAt) {
		t.Error("it waits, and nothing was asked")
	}
}

// TestTheWheelAndClicksOfAPromptAreNone: what is below a prompt must not move.
func TestTheWheelAndClicksOfAPromptAreNone(t *testing.T) {
	r := newRig(t, 30).start().press(":")
	r.wheel(tea.MouseWheelDown)
	r.click(3, 8)
	if got := r.seen().Selected; got != "node-0000" {
		t.Errorf("the cursor is on %s", got)
	}
}

// TestPasteGoesToThePrompt, and nowhere without one.
func TestPasteGoesToThePrompt(t *testing.T) {
	r := newRig(t, 30).start()
	r.send(tea.PasteMsg{Content: "jjq"})
	if got := r.seen(); got.Selected != "node-0000" || got.Quit {
		t.Errorf("pasted text is taken for keys: %+v", got)
	}
	r.press("/").send(tea.PasteMsg{Content: "0011"})
	if got := r.seen().Selected; got != "node-0011" {
		t.Errorf("the pasted filter selects %s", got)
	}
}

// TestAnotherTabBeginsAtItsTop: how far one tab is scrolled says nothing of another.
func TestAnotherTabBeginsAtItsTop(t *testing.T) {
	r := newRig(t, 30).start().press("enter", "a", "tab", "tab", "enter", "G") // the agent has answered already
	if r.m.page().scroll == 0 {
		t.Fatal("the unfolded waterfall does not scroll")
	}
	if r.press("a"); r.m.page().scroll != 0 {
		t.Errorf("the tab of the agent is scrolled to %d", r.m.page().scroll)
	}
}

// TestAnOlderSelectionIsNotShownAsTheCurrentOne: coming back to a table, its labels are asked for before rows are shown.
func TestAnOlderSelectionIsNotShownAsTheCurrentOne(t *testing.T) {
	r := newRig(t, 30).start().press("/-l pool=gpu", "enter", ":pods app=search", "enter", "esc")
	r.hold = true
	r.press("esc")
	if got := r.m.table().Len(); r.m.page().screen.name != nodesName || got != 0 {
		t.Errorf("%d nodes of an older answer are shown", got)
	}
	r.release()
	if got := r.m.table().Len(); got != 10 {
		t.Errorf("%d nodes have the label, want 10", got)
	}
}

// TestRowsOfAnotherQuestionGoAtOnce: the pods of one namespace must not stand below the name of another.
func TestRowsOfAnotherQuestionGoAtOnce(t *testing.T) {
	r := newRig(t, 30).start().press(":ns shop", "enter")
	r.hold = true
	r.press(":ns analytics", "enter")
	if got := r.m.table().Total(); got != 0 {
		t.Errorf("%d pods of shop are listed as those of analytics", got)
	}
}

// TestNamesAreAskedForOnce for a namespace, however much is typed.
func TestNamesAreAskedForOnce(t *testing.T) {
	r := newRig(t, 30).start()
	counted := &counting{Source: r.src.Source}
	r.src.Source = counted
	if r.press(":explain shop/search-r"); counted.asked.Load() != 2 {
		t.Errorf("%d questions, want the namespaces and the pods of one", counted.asked.Load())
	}
}
