package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/fixture"
)

// TestWhatIfAsksAboutTheObjectUnderTheCursor.
func TestWhatIfAsksAboutTheObjectUnderTheCursor(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"a node of the table":             {[]string{"j"}, "nodes > drain node-0001"},
		"the node of a page":              {[]string{":node node-0011", "enter"}, "nodes > node-0011 > drain node-0011"},
		"a node that has devices":         {[]string{":devices", "enter", "j"}, "nodes > devices > drain node-0006"},
		"the node of a page of devices":   {[]string{":device node-0003", "enter"}, "nodes > node-0003 > drain node-0003"},
		"a pod of the table":              {[]string{":pods shop", "enter", "j"}, "nodes > pods > capacity shop/catalog-0001"},
		"the pod of a page":               {[]string{":explain shop/search-0003", "enter"}, "nodes > shop/search-0003 > capacity shop/search-0003"},
		"a pod of a node":                 {[]string{"p", "j"}, "nodes > node-0000 > capacity analytics/spark-exec-0000"},
		"a pod that would be evicted":     {[]string{":drain node-0006", "enter", "j"}, "nodes > drain node-0006 > capacity shop/search-0006"},
		"nothing, beside the pods":        {[]string{":drain node-0006", "enter", "tab"}, "nodes > drain node-0006"},
		"a member of a gang that waits":   {[]string{":gang ml/tune", "enter"}, "nodes > tune > capacity ml/tune-0"},
		"nothing, where no row is left":   {[]string{"/nothing", "enter"}, "nodes"},
		"nothing, where objects are lost": {[]string{":devices /nothing", "enter"}, "nodes > devices"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.keys...).press("w")
			if got := r.crumbs(); got != tc.want || r.m.flash.bad {
				t.Errorf("w leads to %q and says %q, want %q", got, r.m.flash.text, tc.want)
			}
		})
	}
}

// TestWhatIfNeedsAnObject: one without a name, such as the member of a gang that has none, is not known.
func TestWhatIfNeedsAnObject(t *testing.T) {
	r := newRig(t, 30).start()
	for about, want := range map[object]string{podObject("ml", ""): "the pod is not known", nodeObject(""): "the node is not known", quotaObject("quotas", "spark"): ""} {
		r.m.flash.text = ""
		r.run(r.m.whatIf(about))
		if got := r.seen(); got.Crumbs != nodesName || got.Flash != want {
			t.Errorf("unexpected %+v, want %q", got, want)
		}
	}
}

// onceScreens runs a test for each screen that asks once, with a source that counts.
func onceScreens(t *testing.T, test func(t *testing.T, r *rig, asked func() int64, name string)) {
	t.Helper()
	screensWith(t, func(s *screen) bool { return s.once && s.name != checksName }, func(t *testing.T, name string) {
		r := newRig(t, 30)
		counted := &counting{Source: r.src.Source}
		r.src.Source = counted
		r.start()
		before := counted.forecasts.Load()
		test(t, r, func() int64 {
			all := counted.forecasts.Load()
			n := all - before
			before = all
			return n
		}, name)
	})
}

// TestAForecastIsAskedForOnce when its page is opened, and by ctrl-r, but not with a refresh or on the way back.
func TestAForecastIsAskedForOnce(t *testing.T) {
	onceScreens(t, func(t *testing.T, r *rig, asked func() int64, name string) {
		for _, step := range []struct {
			what string
			do   func()
			want int64
		}{
			{"it is opened", func() { r.openScreen(name) }, 1},
			{"time goes by", func() { r.pass(time.Minute) }, 0},
			{"ctrl-r", func() { r.press("ctrl+r") }, 1},
			{"time goes by again", func() { r.pass(time.Minute) }, 0},
			{"the help and back", func() { r.press("?", "?") }, 0},
			{"another page and back", func() { r.press(":pods", "enter", "esc") }, 0},
			{"the tabs", func() { r.press("tab", "tab") }, 0},
			{"it is left", func() { r.press("esc") }, 0},
			{"it is opened anew", func() { r.openScreen(name) }, 1},
			{"about another object", func() { r.run(r.m.open(name, otherOf(r.m.screenOf(name)))) }, 1},
			{"and back, where the answer is another's", func() { r.press("esc") }, 1},
			{"time goes by at last", func() { r.pass(time.Minute) }, 0},
		} {
			if step.do(); r.m.page().content().feed == nil || asked() != step.want {
				t.Errorf("%s: not asked %d times", step.what, step.want)
			}
		}
		says(t, r.plain(), []string{sampleOf(r.m.screenOf(name)).key()}, []string{otherOf(r.m.screenOf(name)).key()})
	})
}

// TestAForecastIsOfItsMoment: it gets older and not stale, until ctrl-r fails to renew it.
func TestAForecastIsOfItsMoment(t *testing.T) {
	onceScreens(t, func(t *testing.T, r *rig, _ func() int64, name string) {
		r.openScreen(name).pass(7 * time.Minute)
		says(t, r.plain(), []string{"7m ago"}, []string{"stale"})
		r.src.Err = errUnreachable
		r.pass(time.Minute)
		says(t, r.plain(), []string{"8m ago"}, []string{"stale", "KOORD0001"})
		r.press("ctrl+r")
		says(t, r.plain(), []string{"stale, 8m ago", "KOORD0001"}, nil)
		r.src.Err = nil
		r.press("ctrl+r")
		says(t, r.plain(), []string{"0s ago"}, []string{"stale", "KOORD0001"})
	})
}

// TestAForecastThatFailsIsNotAskedForByItself, and says that.
func TestAForecastThatFailsIsNotAskedForByItself(t *testing.T) {
	onceScreens(t, func(t *testing.T, r *rig, asked func() int64, name string) {
		r.src.Err = finding.Wrap(errors.New("no response within 45s: review placements"), finding.SchedulerUnavailable, "koordctl status")
		r.openScreen(name)
		says(t, r.plain(), []string{"error: no response within 45s: review placements", "hint: koordctl status", "ctrl-r to retry now; it is not asked again by itself"}, []string{"every"})
		r.src.Err = nil
		if r.pass(time.Minute); asked() != 0 {
			t.Error("it was asked again")
		}
		r.press("ctrl+r")
		says(t, r.plain(), []string{"0s ago"}, []string{"error:"})
	})
}

// TestAForecastThatIsAskedForAgain is waited for, beside the answer of before or in place of the error.
func TestAForecastThatIsAskedForAgain(t *testing.T) {
	onceScreens(t, func(t *testing.T, r *rig, _ func() int64, name string) {
		r.openScreen(name).pass(7 * time.Minute)
		r.hold = true
		r.press("ctrl+r").pass(7 * time.Second)
		says(t, r.plain(), []string{"asking again, 7m ago", sampleOf(r.m.screenOf(name)).key()}, []string{"stale", "loading"})
		r.release()
		says(t, r.plain(), []string{"0s ago"}, []string{"asking"})
		r.src.Err = errUnreachable
		r.press("esc").run(r.m.open(name, otherOf(r.m.screenOf(name))))
		r.src.Err, r.hold = nil, true
		r.press("ctrl+r").pass(7 * time.Second)
		says(t, r.plain(), []string{"loading", "loading from koord-sandbox"}, []string{"error:", "no data"})
	})
}

// silent is a source whose forecasts do not come before their time is up, and that keeps how much they were given.
type silent struct {
	fixture.Source
	given time.Duration
}

func (s *silent) wait(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	s.given = time.Until(deadline)
	return fmt.Errorf("review placements: %w", context.DeadlineExceeded)
}

func (s *silent) ForecastDrain(ctx context.Context, _ source.DrainQuery) (*diagnostics.DrainForecast, error) {
	return nil, s.wait(ctx)
}

func (s *silent) ForecastPlacement(ctx context.Context, _ source.PlacementQuery) (*diagnostics.PlacementForecast, error) {
	return nil, s.wait(ctx)
}

func (s *silent) Impact(ctx context.Context) (*source.Impact, error) { return nil, s.wait(ctx) }

// TestAForecastIsGivenMoreTime than what is asked again and again: koord-scheduler may take half a minute.
func TestAForecastIsGivenMoreTime(t *testing.T) {
	screensWith(t, func(s *screen) bool { return s.once && s.name != checksName }, func(t *testing.T, name string) {
		r := newRig(t, 30)
		s := &silent{Source: r.src.Source}
		r.src.Source = s
		r.start().openScreen(name)
		if s.given <= 30*time.Second || s.given > askOnceTimeout {
			t.Errorf("it is given %s", s.given)
		}
		says(t, r.plain(), []string{"error: review placements: context deadline exceeded", "ctrl-r"}, nil)
	})
}

// TestAQuestionThatTakesTooLong says for how long it was waited for.
func TestAQuestionThatTakesTooLong(t *testing.T) {
	r := newRig(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	r.m.ctx = ctx
	var f feed[int]
	r.take(askWithin(r.m, &f, askOnceTimeout, "slow", func(context.Context) (int, error) {
		cancel()
		return 0, context.DeadlineExceeded
	})())
	if f.err == nil || !strings.HasPrefix(f.err.Error(), "no response within 45s: ") {
		t.Errorf("unexpected error %v", f.err)
	}
}

// TestKeysOfAForecastThatIsAwaited lead nowhere.
func TestKeysOfAForecastThatIsAwaited(t *testing.T) {
	onceScreens(t, func(t *testing.T, r *rig, _ func() int64, name string) {
		r.hold = true
		r.openScreen(name)
		crumbs := r.crumbs()
		for _, key := range []string{"tab", "tab", "n", "t", "j", "G"} {
			if r.press(key); r.crumbs() != crumbs || r.m.flash.bad {
				t.Errorf("%s leads to %s and says %q", key, r.crumbs(), r.m.flash.text)
			}
			r.lines()
		}
		r.release()
		says(t, r.plain(), []string{"0s ago"}, []string{"error:"})
	})
}
