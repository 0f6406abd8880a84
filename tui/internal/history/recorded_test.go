package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/tui/internal/story"
)

// moment is what was recorded at a second; a negative value was not measured.
func moment(second int, v int64) Moment {
	m := Moment{At: epoch.Add(time.Duration(second) * time.Second)}
	if v >= 0 {
		m.Resources = parts(v)
	}
	return m
}

// TestRecordedMomentsBecomeColumns, and what lies between them is held for a while.
func TestRecordedMomentsBecomeColumns(t *testing.T) {
	for name, tc := range map[string]struct {
		moments    []Moment
		end        int
		step, hold time.Duration
		width      int
		want       []int64
	}{
		"one a column":                        {[]Moment{moment(10, 1), moment(20, 2), moment(30, 3)}, 30, 10 * time.Second, 0, 3, []int64{1, 2, 3}},
		"the mean of several":                 {[]Moment{moment(11, 2), moment(20, 4)}, 20, 10 * time.Second, 0, 1, []int64{3}},
		"held until the next":                 {[]Moment{moment(10, 1), moment(40, 4)}, 40, 10 * time.Second, time.Minute, 4, []int64{1, 1, 1, 4}},
		"not for longer than that":            {[]Moment{moment(10, 1)}, 60, 10 * time.Second, 25 * time.Second, 6, []int64{1, 1, 1, 1, -1, -1}},
		"the last before the chart is held":   {[]Moment{moment(2, 7), moment(40, 4)}, 40, 10 * time.Second, time.Minute, 3, []int64{7, 7, 4}},
		"but not one of long ago":             {[]Moment{moment(2, 7), moment(140, 4)}, 140, 10 * time.Second, time.Minute, 3, []int64{-1, -1, 4}},
		"nor before what the first column is": {[]Moment{moment(2, 7), moment(20, 4)}, 40, 10 * time.Second, time.Minute, 3, []int64{4, 4, 4}},
		"what comes after the end is not yet": {[]Moment{moment(10, 1), moment(99, 9)}, 20, 10 * time.Second, 0, 2, []int64{1, -1}},
		"a moment without a measurement":      {[]Moment{moment(10, 1), moment(20, -1)}, 20, 10 * time.Second, time.Minute, 2, []int64{1, -1}},
		"nothing was recorded":                {nil, 20, 10 * time.Second, time.Minute, 2, []int64{-1, -1}},
		"no width":                            {[]Moment{moment(10, 1)}, 20, 10 * time.Second, time.Minute, 0, nil},
		"less than no width":                  {[]Moment{moment(10, 1)}, 20, 10 * time.Second, time.Minute, -5, nil},
		"no step":                             {[]Moment{moment(10, 1)}, 20, 0, time.Minute, 2, []int64{-1, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, resource := range []Resource{CPU, Memory} {
				got := areas(Recorded(tc.moments, resource, epoch.Add(time.Duration(tc.end)*time.Second), tc.step, tc.hold, tc.width))
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("unexpected columns (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestWhatWasRecordedLooksAsWhatIsSeenLive: the same moments, sampled by the workbench, are the same columns.
func TestWhatWasRecordedLooksAsWhatIsSeenLive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h History
		var moments []Moment
		second := 0
		for range rapid.IntRange(1, 40).Draw(t, "moments") {
			second += rapid.IntRange(1, 15).Draw(t, "after")
			v := rapid.Int64Range(-1, 1000).Draw(t, "used")
			moments = append(moments, moment(second, v))
			if v >= 0 {
				h.Append(sample(second, map[string]int64{"a": v}))
			} else {
				h.Append(unmeasured(second))
			}
		}
		step := time.Duration(rapid.IntRange(1, 20).Draw(t, "step")) * time.Second
		hold := time.Duration(rapid.IntRange(0, 60).Draw(t, "hold")) * time.Second
		// The chart reaches back to the first moment: what is before it, live samples do not hold.
		end, width := second+rapid.IntRange(0, 30).Draw(t, "later"), 0
		for ; time.Duration(width)*step <= time.Duration(end)*time.Second; width++ {
		}
		want := read(&h, "a", end, step, hold, width)
		got := areas(Recorded(moments, CPU, epoch.Add(time.Duration(end)*time.Second), step, hold, width))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("recorded and live differ (-live +recorded):\n%s", diff)
		}
	})
}

func TestThePastOfAHistory(t *testing.T) {
	var h History
	if !h.Since().IsZero() || h.Len() != 0 || h.Measured("a", CPU) || h.Has("a") {
		t.Error("an empty history holds something")
	}
	h.Append(Sample{At: epoch, Nodes: map[string][2]story.Parts{"a": {parts(1)[CPU], {Capacity: 4}}}})
	if !h.Measured("a", CPU) || h.Measured("a", Memory) || h.Measured("b", CPU) || !h.Since().Equal(epoch) {
		t.Error("the measured resources of a sample are not those that it has")
	}
}
