package tui

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/style"
)

func microAt(ago time.Duration) metav1.MicroTime { return metav1.NewMicroTime(builtAt.Add(-ago)) }

// makeTimeline is a pod that was refused twice, and runs.
func makeTimeline(edit func(*timelineAnswer)) *timelineAnswer {
	t := &timelineAnswer{Entries: []diagnostics.TimelineEntry{
		{Time: microAt(10 * time.Minute), Count: 1, By: "Job/etl", Event: "PodCreated"},
		{Time: microAt(10 * time.Minute), Count: 1, By: "koord-scheduler", Event: "FailedScheduling", Warning: true, Message: "0/3 nodes are available: 3 Insufficient cpu."},
		{Time: microAt(9 * time.Minute), LastTime: new(microAt(4 * time.Minute)), Count: 7, By: "koord-scheduler", Event: "FailedScheduling", Warning: true,
			Message: "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.", Changed: []string{"Insufficient cpu: 3 -> 2", "node(s) were unschedulable: 0 -> 1"}},
		{Time: microAt(3 * time.Minute), Count: 1, By: "koord-scheduler", Event: "Scheduled", Message: "Successfully assigned etl/driver to worker-1"},
		{Time: microAt(170 * time.Second), Count: 1, Event: "Ready"},
	}}
	edit(t)
	return t
}

// shownTimeline is the page of a pod.
func shownTimeline(t *testing.T, answer *timelineAnswer, unfolded bool) *timeline {
	t.Helper()
	r := newRig(t, 1).start()
	r.clock.SetTime(builtAt)
	r.m.page().unfolded, r.m.page().about = unfolded, podObject("etl", "driver")
	d := &timeline{Model: r.m}
	d.answer.value, d.answer.known = answer, true
	return d
}

// TestTheTextOfATimeline has what happened in the order of the answer, and above it what happened last.
func TestTheTextOfATimeline(t *testing.T) {
	for name, tc := range map[string]struct {
		edit        func(*timelineAnswer)
		width       int
		unfolded    bool
		want, never []string
	}{
		"in its order": {
			edit: func(*timelineAnswer) {},
			want: []string{
				" ● Ready  etl/driver  2m ago",
				"       AGE   LAST  EVENT                BY\n",
				"  ●    10m      -  PodCreated           Job/etl\n  ▲    10m      -  FailedScheduling     koord-scheduler\n  │                0/3 nodes are available: 3 Insufficient cpu.\n",
				"  ▲     9m     4m  FailedScheduling x7  koord-scheduler\n  │                nodes that refuse: Insufficient cpu: 3 -> 2, node(s) were\n  │                unschedulable: 0 -> 1\n",
				"  ●     2m      -  Ready                -",
			},
			never: []string{"TIME", "MESSAGE", "x1", "1 node(s) were unschedulable"},
		},
		"unfolded it has times and whole messages": {
			edit: func(*timelineAnswer) {}, unfolded: true,
			want: []string{"    TIME        AGE   LAST  EVENT                BY\n", "  ▲ 10:20:00    10m      -  FailedScheduling",
				"  │                         0/3 nodes are available: 1 node(s) were\n"},
			never: []string{"nodes that refuse"},
		},
		"of several days": {
			edit:     func(t *timelineAnswer) { t.Entries[0].Time = microAt(50 * time.Hour) },
			unfolded: true, want: []string{"  ● 02-27 08:30:00     2d", "  ▲ 03-01 10:20:00    10m"},
		},
		"messages beside where there is room": {
			edit: func(*timelineAnswer) {}, width: 130,
			want: []string{
				"       AGE   LAST  EVENT                BY               MESSAGE\n",
				"  ▲    10m      -  FailedScheduling     koord-scheduler  0/3 nodes are available: 3 Insufficient cpu.\n",
				"  ▲     9m     4m  FailedScheduling x7  koord-scheduler  nodes that refuse: Insufficient cpu: 3 -> 2, node(s) were unschedulable:\n" +
					"  │                                                      0 -> 1\n",
				"  ●     3m      -  Scheduled            koord-scheduler  Successfully assigned etl/driver to worker-1\n  ●",
			},
		},
		"what goes on is what happened last": {
			edit: func(t *timelineAnswer) { t.Entries[2].LastTime = new(microAt(5 * time.Second)) },
			want: []string{" ▲ FailedScheduling x7  etl/driver  5s ago"},
		},
		"of what happened at once, what was caused": {
			edit: func(t *timelineAnswer) { t.Entries[4].Time = t.Entries[3].Time },
			want: []string{" ● Ready  etl/driver  3m ago"},
		},
		"nothing leads on from the last": {
			edit: func(t *timelineAnswer) { t.Entries = t.Entries[:4] },
			want: []string{"koord-scheduler\n                   Successfully assigned etl/driver to worker-1"},
		},
		"notes": {
			edit: func(t *timelineAnswer) {
				t.Notes = []string{"node worker-1 is nominated", "the agent keeps no log"}
			},
			want: []string{"\n\n   node worker-1 is nominated\n\n   the agent keeps no log"},
		},
		"nothing": {
			edit: func(t *timelineAnswer) { t.Entries, t.Notes = nil, []string{"there are no events"} },
			want: []string{" ? nothing is recorded of  etl/driver", "   there are no events"}, never: []string{"EVENT"},
		},
		"a clock that is wrong": {
			edit: func(t *timelineAnswer) { t.Entries[4].Time = microAt(-time.Hour) },
			want: []string{"         AGE   LAST  EVENT", "  ● <future>      -  Ready"},
		},
		"names that are too long": {
			edit: func(t *timelineAnswer) {
				t.Entries[0].By, t.Entries[3].Event = "Job/"+strings.Repeat("etl", 20), strings.Repeat("Scheduled", 5)
			},
			want: []string{"Job/etletletletletletletlet…\n", "ScheduledScheduledScheduledSc…  koord-scheduler\n"},
		},
		"text that would move the cursor": {
			edit: func(t *timelineAnswer) {
				e := &t.Entries[4]
				e.By, e.Event, e.Message = "a\rb", "E\x1b[2J", "one\ntwo\x1b[31m"
				t.Notes = []string{"note\x07"}
			},
			want: []string{" ● E [2J  etl/driver", "E [2J                a b\n                   one two [31m", "   note"}, never: []string{"\r", "\x1b", "\x07"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			width := tc.width
			if width == 0 {
				width = minWidth
			}
			says(t, textOf(shownTimeline(t, makeTimeline(tc.edit), tc.unfolded).timelineText(width)), tc.want, tc.never)
		})
	}
}

// TestWarningsOfATimelineStandOut in the line of the entry and in the first line.
func TestWarningsOfATimelineStandOut(t *testing.T) {
	d := shownTimeline(t, makeTimeline(func(t *timelineAnswer) { t.Entries = t.Entries[:2] }), false)
	d.st = style.New(colourLook)
	lines := d.timelineText(minWidth)
	for i, want := range map[int]string{0: d.st.Warn.Render(d.st.Hot + " FailedScheduling"), 3: d.st.Info.Render(d.st.Good), 4: d.st.Warn.Render(d.st.Hot)} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d lacks %q: %q", i, want, lines[i])
		}
	}
}

// TestTimelinesAreOneKeyAway from a pod, and lead on to what else is known of it.
func TestTimelinesAreOneKeyAway(t *testing.T) {
	const events = "events analytics/report-0003"
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"from the pods":               {[]string{":pods /report-0003", "enter", "e"}, "nodes > pods > " + events},
		"from a pod":                  {[]string{":explain analytics/report-0003", "enter", "e"}, "nodes > analytics/report-0003 > " + events},
		"from the pods of a node":     {[]string{"p", ":events", "enter"}, "nodes > node-0000 > events analytics/report-0000"},
		"by its name":                 {[]string{":events analytics/report-0003", "enter"}, "nodes > " + events},
		"as the command line has it":  {[]string{":timeline pod analytics/report-0003", "enter"}, "nodes > " + events},
		"to the explanation":          {[]string{":events analytics/report-0003", "enter", "x"}, "nodes > " + events + " > analytics/report-0003"},
		"to the description":          {[]string{":events analytics/report-0003", "enter", "d"}, "nodes > " + events + " > describe pod analytics/report-0003"},
		"of a node":                   {[]string{":events", "enter"}, "nodes > events node node-0000"},
		"of another kind, by name":    {[]string{":events workers analytics/spark", "enter"}, "nodes > events workers analytics/spark"},
		"of the engine that is seen":  {[]string{":workers", "enter", "enter", "e"}, "nodes > workers > impala > events workers analytics/impala"},
		"from the list of engines":    {[]string{":workers", "enter", "e"}, "nodes > workers > events workers analytics/impala"},
		"of a workload there is none": {[]string{":wl", "enter", ":events", "enter"}, "nodes > workloads"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.keys...)
			if got := r.crumbs(); got != tc.want {
				t.Errorf("leads to %q, want %q", got, tc.want)
			}
			if want := "name required: :events NAMESPACE/POD or KIND NAME"; tc.want == "nodes > workloads" && r.m.flash.text != want {
				t.Errorf("says %q, want %q", r.m.flash.text, want)
			}
		})
	}
	if r := newRig(t, 30).start().press(":events nope", "enter"); r.m.page().about != podObject("default", "nope") {
		t.Errorf("without a namespace it is about %v", r.m.page().about)
	}
}

func TestASourceWithoutTimelinesSaysSo(t *testing.T) {
	r := newRig(t, 30)
	r.m.source = struct{ source.Source }{r.src}
	says(t, r.start().press(":events shop/search-0003", "enter").screen(), []string{"error: tell what happened to pods: not available from this source"}, nil)
}
