package tui

import (
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/style"
)

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"systemUsed": "system used", "capacity": "capacity", "": "", "WithinThreshold": "within threshold", "podHPUsed": "pod hpused",
		"prod\x1b[2JUsed": "prod [2jused",
	} {
		if got := words(name); got != want {
			t.Errorf("%q: unexpected words %q, want %q", name, got, want)
		}
	}
}

// TestSourcesLeaveOutWhatTheViewIsAbout: the name of the node is in the title already.
func TestSourcesLeaveOutWhatTheViewIsAbout(t *testing.T) {
	for name, tc := range map[string]struct {
		ref   *diagnostics.SourceRef
		about string
		want  string
	}{
		"none":                         {nil, "node-1", ""},
		"a field of the node":          {&diagnostics.SourceRef{Kind: "Node", Name: "node-1", Field: "status.capacity.cpu"}, "node-1", "Node status.capacity.cpu"},
		"a field of another node":      {&diagnostics.SourceRef{Kind: "Node", Name: "node-2", Field: "status.capacity.cpu"}, "node-1", "Node/node-2 status.capacity.cpu"},
		"a pod":                        {&diagnostics.SourceRef{Kind: "Pod", Namespace: "shop", Name: "web-1"}, "node-1", "Pod/shop/web-1"},
		"a default":                    {&diagnostics.SourceRef{Kind: "Default", Field: "midCPUThresholdPercent"}, "node-1", "Default midCPUThresholdPercent"},
		"a name that moves the cursor": {&diagnostics.SourceRef{Kind: "Pod", Name: "a\x1b[2Jb"}, "", "Pod/a [2Jb"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sourceOf(tc.ref, tc.about); got != tc.want {
				t.Errorf("unexpected source %q, want %q", got, tc.want)
			}
		})
	}
}

// TestEveryOperatorHasAMarkOfItsOwn, but for those that do not calculate: the start, and what is only informative.
func TestEveryOperatorHasAMarkOfItsOwn(t *testing.T) {
	for _, look := range looks {
		st, owner := style.New(look), map[string]diagnostics.Operator{}
		for _, o := range []diagnostics.Operator{
			diagnostics.Start, diagnostics.Minus, diagnostics.Plus, diagnostics.Min, diagnostics.Max, diagnostics.Times, diagnostics.Result,
		} {
			mark := operatorMark(o, st)
			if mark == "" {
				t.Errorf("%s has no mark", o)
			}
			if other, ok := owner[mark]; ok {
				t.Errorf("%s and %s are both marked %q", other, o, mark)
			}
			owner[mark] = o
		}
	}
}

// TestSpansFollowTheRunningValue: each term is drawn where it takes away from, or adds to, what was left before it.
func TestSpansFollowTheRunningValue(t *testing.T) {
	for name, tc := range map[string]struct {
		fall        *waterfallBuilder
		want        []span
		wantHighest int64
	}{
		"what is left of the capacity": {
			makeWaterfall("batch-cpu").term(diagnostics.Start, "capacity", 100).term(diagnostics.Minus, "margin", 30).term(diagnostics.Minus, "used", 20).term(diagnostics.Result, "batch", 50),
			[]span{{0, 100}, {70, 100}, {50, 70}, {0, 50}}, 100,
		},
		"more than there was": {
			makeWaterfall("mid-cpu").term(diagnostics.Start, "reclaimable", 40).term(diagnostics.Plus, "unused", 30).term(diagnostics.Min, "limit", 50).term(diagnostics.Result, "mid", 50),
			[]span{{0, 40}, {40, 70}, {50, 70}, {0, 50}}, 70,
		},
		"a limit that does not bind draws nothing": {
			makeWaterfall("mid-cpu").term(diagnostics.Start, "reclaimable", 40).term(diagnostics.Min, "limit", 50),
			[]span{{0, 40}, {40, 40}}, 40,
		},
		"a percentage": {
			makeWaterfall("cpu").term(diagnostics.Start, "capacity", 80).term(diagnostics.Times, "threshold", 50).term(diagnostics.Max, "floor", 60),
			[]span{{0, 80}, {40, 80}, {40, 60}}, 80,
		},
		"below zero nothing is drawn": {
			makeWaterfall("cpu").term(diagnostics.Start, "capacity", 10).term(diagnostics.Minus, "used", 30).term(diagnostics.Max, "none", 0),
			[]span{{0, 10}, {0, 10}, {0, 0}}, 10,
		},
		"no terms": {makeWaterfall("cpu"), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, highest := spansOf(tc.fall.Terms)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(span{})); diff != "" {
				t.Errorf("unexpected spans (-want +got):\n%s", diff)
			}
			if highest != tc.wantHighest {
				t.Errorf("unexpected scale %d, want %d", highest, tc.wantHighest)
			}
		})
	}
}

func TestSpanBarsKeepTheirWidth(t *testing.T) {
	st := style.New(asciiLook)
	for name, tc := range map[string]struct {
		span  span
		scale int64
		width int
		o     diagnostics.Operator
		want  string
	}{
		"half":                         {span{0, 50}, 100, 10, diagnostics.Start, "#####     "},
		"what is taken away":           {span{50, 100}, 100, 10, diagnostics.Minus, "     ====="},
		"the least is seen":            {span{0, 1}, 1000, 10, diagnostics.Start, "#         "},
		"the least, at the end":        {span{999, 1000}, 1000, 10, diagnostics.Minus, "         ="},
		"nothing is nothing":           {span{40, 40}, 100, 10, diagnostics.Minus, "          "},
		"no scale":                     {span{0, 0}, 0, 4, diagnostics.Start, "    "},
		"more than the scale is a row": {span{0, 200}, 100, 4, diagnostics.Start, "####"},
		"no room":                      {span{0, 50}, 100, 0, diagnostics.Start, ""},
		"less than no room":            {span{0, 50}, 100, -3, diagnostics.Start, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ansi.Strip(spanBar(tc.span, tc.scale, tc.width, tc.o, st)); got != tc.want {
				t.Errorf("unexpected bar %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAges(t *testing.T) {
	if got := ageOf(nil, builtAt); got != "-" {
		t.Errorf("no time is %q", got)
	}
	if got := ageOf(new(metav1.NewTime(builtAt.Add(-90*time.Second))), builtAt); got != "90s" && got != "1m30s" && got != "1m" {
		t.Errorf("90 seconds are %q", got)
	}
}
