package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func TestLateAnswersAreDropped(t *testing.T) {
	r := newRig(t, 30).start()
	r.hold = true
	r.press(":node node-0011", "enter") // the one whose resources are degraded
	slow := r.held
	r.held = nil
	r.press(":node node-0002", "enter")
	r.release()
	for _, cmd := range slow {
		r.run(cmd)
	}
	if text := r.screen(); !strings.Contains(text, "node node-0002") || !strings.Contains(text, "prod used") || strings.Contains(text, "degraded") {
		t.Errorf("the screen does not show node-0002, or shows the answer to the question before:\n%s", text)
	}
}

func TestLeavingAQuestionCancelsIt(t *testing.T) {
	r := newRig(t, 1)
	var f feed[int]
	var seen context.Context
	cmd := ask(r.m, &f, "first", func(ctx context.Context) (int, error) { seen = ctx; return 1, nil })
	ask(r.m, &f, "second", func(context.Context) (int, error) { return 2, nil })
	for _, c := range cmd().(tea.BatchMsg) {
		if a, ok := c().(answer[int]); ok && f.accept(a) {
			t.Error("the first answer was taken for the second question")
		}
	}
	if seen.Err() == nil {
		t.Error("the first question still runs")
	}
}

func TestQuestionsAreNotAskedTwiceAtOnce(t *testing.T) {
	r := newRig(t, 30)
	r.hold = true
	r.start()
	before := r.m.nodes.generation
	r.press("ctrl+r", "ctrl+r")
	r.m.Update(refreshMsg{})
	if r.m.nodes.generation != before {
		t.Error("the nodes were asked for again while the question was under way")
	}
}

// TestQuestionsThatTakeLongRest: the longer an answer takes, the later it is asked for again, unless ctrl-r asks, another question does, or
// it failed.
func TestQuestionsThatTakeLongRest(t *testing.T) {
	const every = 2 * time.Second // the rig's refresh interval
	tests := map[string]struct {
		took, wait time.Duration
		question   string
		err        error
		forced     bool
		wantAsked  bool
	}{
		"a quick answer is renewed at each refresh":  {took: 50 * time.Millisecond, wait: every, question: "same", wantAsked: true},
		"one that took a second is not":              {took: time.Second, wait: every, question: "same"},
		"nor just before it has rested":              {took: time.Second, wait: 56 * time.Second, question: "same"},
		"and is when it has":                         {took: time.Second, wait: 57 * time.Second, question: "same", wantAsked: true},
		"the rest has an end":                        {took: 20 * time.Second, wait: 2 * time.Minute, question: "same", wantAsked: true},
		"another question does not wait":             {took: time.Second, wait: every, question: "another", wantAsked: true},
		"ctrl-r does not":                            {took: time.Second, wait: every, question: "same", forced: true, wantAsked: true},
		"a slow answer that failed is asked for now": {took: time.Second, wait: every, question: "same", err: errors.New("no"), wantAsked: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			var f feed[int]
			fetch := func(context.Context) (int, error) { return 1, nil }
			ask(r.m, &f, "same", fetch)
			f.accept(answer[int]{to: &f, generation: f.generation, value: 1, at: r.clock.Now()})
			ask(r.m, &f, "same", fetch)
			f.accept(answer[int]{to: &f, generation: f.generation, value: 1, err: tc.err, at: r.clock.Now().Add(tc.took)})
			r.clock.SetTime(r.clock.Now().Add(tc.took + tc.wait))
			r.m.forced = tc.forced
			if asked := ask(r.m, &f, tc.question, fetch) != nil; asked != tc.wantAsked {
				t.Errorf("asked %t, want %t", asked, tc.wantAsked)
			}
		})
	}
}

// TestWhatRestsIsNotStale: an answer that is not asked for at each refresh is as old as it may be.
func TestWhatRestsIsNotStale(t *testing.T) {
	r := newRig(t, 3).start()
	r.m.nodes.took = time.Second
	r.pass(44 * time.Second)
	if text := r.screen(); strings.Contains(text, "stale") {
		t.Errorf("the answer is called stale while it rests:\n%s", text)
	}
}

func TestPollingGoesOnThroughErrors(t *testing.T) {
	r := newRig(t, 30).start()
	r.src.Err = errUnreachable
	r.pass(10 * time.Second)
	if text := r.screen(); !strings.Contains(text, "stale") || !strings.Contains(text, "node-0000") || !strings.Contains(text, "KOORD0001") {
		t.Errorf("a failing refresh must keep the rows and say so:\n%s", text)
	}
	r.src.Err = nil
	r.pass(3 * time.Second)
	if text := r.screen(); strings.Contains(text, "stale") || strings.Contains(text, "KOORD0001") {
		t.Errorf("the error stays after it is over:\n%s", text)
	}
	if n := r.m.history.Len(); n < 2 {
		t.Errorf("%d samples of history", n)
	}
}

func TestSkeletonComesLate(t *testing.T) {
	r := newRig(t, 30)
	r.hold = true
	r.start()
	if strings.Contains(r.screen(), "loading from the cluster") {
		t.Error("a quick answer would flicker")
	}
	r.clock.SetTime(r.clock.Now().Add(skeletonDelay))
	if !strings.Contains(r.screen(), "loading from the cluster") {
		t.Error("no sign of waiting")
	}
	r.release()
	if !strings.Contains(r.screen(), "node-0000") {
		t.Error("the answer does not show")
	}
}

func TestClusterIsNamedWithoutConnection(t *testing.T) {
	r := newRig(t, 30)
	r.src.Err = errors.New("no route to host")
	r.start()
	if !strings.Contains(r.screen(), "koord-sandbox") {
		t.Error("the context is not shown")
	}
}

func TestControlCharactersStayHarmless(t *testing.T) {
	r := newRig(t, 30).start()
	list := &diagnostics.NodeOverviewList{Items: []diagnostics.NodeOverview{{Ready: true}}, Incomplete: []string{"a\x1b[2Jb\nc"}}
	list.Items[0].Name = "evil\x1b[31m\r\nname"
	r.m.Update(answer[*diagnostics.NodeOverviewList]{to: &r.m.nodes.feed, generation: r.m.nodes.generation, value: list, at: r.clock.Now()})
	for _, line := range r.lines() {
		if strings.Contains(line, "\x1b[31m") || strings.Contains(line, "\x1b[2J") || strings.ContainsAny(line, "\r\n") {
			t.Errorf("a name reaches the terminal unchanged: %q", line)
		}
	}
}
