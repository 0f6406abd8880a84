package overcommit

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// look is one look at a node, some time after the one before, while its measurements are believed or not.
type look struct {
	after    time.Duration
	believed bool
}

// offers runs looks one after the other, as a controller does, and returns whether each found an offer.
func offers(looks ...look) []bool {
	in := n1()
	start := in.Now
	var out []bool
	for _, l := range looks {
		in.Now = in.Now.Add(l.after)
		metric := in.Metric.DeepCopy()
		metric.Status.UpdateTime.Time = in.Now
		if !l.believed {
			metric.Status.UpdateTime.Time = start.Add(-time.Hour)
		}
		in.Metric = metric
		result := Calculate(in, nil)
		in.Steadiness = result.Steadiness
		out = append(out, !result.BatchCPU.Withdrawn)
	}
	return out
}

func TestOffersThatCameAndWentAreHeldBack(t *testing.T) {
	s := time.Second
	tests := map[string]struct {
		looks []look
		want  string
	}{
		"one failure costs nothing":                      {[]look{{0, true}, {s, false}, {s, true}}, "+-+"},
		"a node that joins has not failed":               {[]look{{0, false}, {s, false}, {s, true}, {s, false}, {s, true}}, "--+-+"},
		"the second is followed by two minutes":          {[]look{{0, true}, {s, false}, {s, true}, {s, false}, {s, true}, {119 * s, true}, {s, true}}, "+-+---+"},
		"the third by four":                              {[]look{{0, true}, {s, false}, {s, true}, {s, false}, {s, true}, {120 * s, true}, {s, false}, {s, true}, {239 * s, true}, {s, true}}, "+-+--+---+"},
		"a clock that is set back holds back no longer":  {[]look{{0, true}, {s, false}, {s, true}, {s, false}, {s, true}, {-time.Hour, true}, {119 * s, true}, {s, true}}, "+-+----+"},
		"failures are forgotten":                         {[]look{{0, true}, {s, false}, {s, true}, {31 * time.Minute, true}, {s, false}, {s, true}}, "+-++-+"},
		"what fails while it is held back costs no more": {append(slicesRepeat(12, look{s, true}, look{s, false}), look{s, true}, look{119 * s, true}, look{s, true}), "+-+" + strings.Repeat("-", 23) + "+"},
		"never longer than a report is believed": {[]look{{0, true}, {s, false}, {s, true}, {s, false}, {s, true}, {120 * s, true}, {s, false}, {s, true}, {240 * s, true}, {s, false}, {s, true}, {480 * s, true},
			{s, false}, {s, true}, {899 * s, true}, {s, true}}, "+-+--+--+--+---+"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, offered := range offers(test.looks...) {
				got.WriteString(map[bool]string{true: "+", false: "-"}[offered])
			}
			if got.String() != test.want {
				t.Errorf("offers are %s, want %s", got.String(), test.want)
			}
		})
	}
}

func slicesRepeat(n int, looks ...look) []look {
	var out []look
	for range n {
		out = append(out, looks...)
	}
	return out
}

func TestAHeldOfferSaysWhyAndUntilWhen(t *testing.T) {
	in := n1()
	in.Steadiness = Steadiness{Failures: []time.Time{in.Now.Add(-3 * time.Minute), in.Now.Add(-time.Minute)}, Believed: in.Now.Add(-time.Minute)}
	result := Calculate(in, nil)
	if !result.BatchCPU.Withdrawn || !result.MidMemory.Withdrawn || !result.Expires.Equal(in.Now.Add(time.Minute)) || !strings.Contains(result.BatchCPU.Reason, "was unusable 2 times in 30m; offered again at ") {
		t.Errorf("result is %+v", result)
	}
	fall := explain(in, 1)[0]
	if !fall.Degraded || !strings.Contains(fall.Terms[0].Note, "was unusable 2 times") {
		t.Errorf("the waterfall is %+v", fall)
	}
	if status := ExplainNode(in, diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "n"}); !strings.Contains(status.Summary, "was unusable 2 times") {
		t.Errorf("summary is %q", status.Summary)
	}
}

// TestMeasurementsThatAlternateDoNotMakeOffersFlap draws any sequence of looks in half an hour: an offer is taken back at most
// six times in it, and never while the measurements are believed and have always been.
func TestMeasurementsThatAlternateDoNotMakeOffersFlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var looks []look
		total := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "looks") {
			l := look{time.Duration(rapid.IntRange(0, 60).Draw(t, "seconds")) * time.Second, rapid.Bool().Draw(t, "believed")}
			if total += l.after; total >= steadyWindow {
				break
			}
			looks = append(looks, l)
		}
		taken, doubted := 0, false
		got := offers(looks...)
		for i, offered := range got {
			doubted = doubted || !looks[i].believed
			if offered && !looks[i].believed || !offered && !doubted {
				t.Fatalf("look %d of %v: offered %v", i, looks, offered)
			}
			if i > 0 && got[i-1] && !offered {
				taken++
			}
		}
		if taken > 6 {
			t.Fatalf("the offer was taken back %d times: %v", taken, got)
		}
	})
}
