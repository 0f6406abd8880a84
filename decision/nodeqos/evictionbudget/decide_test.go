package evictionbudget

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration, count int) Count { return Count{At: noon.Add(-d), Count: count} }

func TestDecide(t *testing.T) {
	tests := map[string]struct {
		in   Input
		want Verdict
	}{
		"the first eviction is counted": {
			in:   Input{Pods: 1000, Percent: 10},
			want: Verdict{Allowed: true, Limit: 100, Evicted: []Count{{At: noon, Count: 1}}},
		},
		"evictions of the same ten seconds are one count": {
			in:   Input{Pods: 1000, Percent: 10, Evicted: []Count{ago(0, 4)}},
			want: Verdict{Allowed: true, Used: 4, Limit: 100, Evicted: []Count{{At: noon, Count: 5}}},
		},
		"a small cluster has room for 20": {
			in:   Input{Pods: 3, Percent: 10, Evicted: []Count{ago(time.Minute, 19)}},
			want: Verdict{Allowed: true, Used: 19, Limit: 20, Evicted: []Count{ago(time.Minute, 19), {At: noon, Count: 1}}},
		},
		"the twenty-first stays until the oldest is forgotten": {
			in:   Input{Pods: 3, Percent: 10, Evicted: []Count{ago(time.Minute, 12), ago(9*time.Minute, 8)}},
			want: Verdict{Used: 20, Limit: 20, Evicted: []Count{ago(9*time.Minute, 8), ago(time.Minute, 12)}},
		},
		"evicted pods count among those that ran": {
			in:   Input{Pods: 900, Percent: 10, Evicted: []Count{ago(time.Minute, 100)}},
			want: Verdict{Used: 100, Limit: 100, Evicted: []Count{ago(time.Minute, 100)}},
		},
		"what was ten minutes ago is forgotten": {
			in:   Input{Pods: 3, Percent: 10, Evicted: []Count{ago(Window, 500)}},
			want: Verdict{Allowed: true, Limit: 20, Evicted: []Count{{At: noon, Count: 1}}},
		},
		"what lies ahead counts as of now": {
			in:   Input{Pods: 3, Percent: 10, Evicted: []Count{ago(-time.Hour, 20)}},
			want: Verdict{Used: 20, Limit: 20, Evicted: []Count{{At: noon, Count: 20}}},
		},
		"at 0 percent 20 may go": {
			in:   Input{Pods: 100000, Percent: 0, Evicted: []Count{ago(time.Minute, 20)}},
			want: Verdict{Used: 20, Limit: 20, Evicted: []Count{ago(time.Minute, 20)}},
		},
		"at 100 percent nothing is bounded, and still counted": {
			in:   Input{Pods: 3, Percent: 100, Evicted: []Count{ago(time.Minute, 500)}},
			want: Verdict{Allowed: true, Used: 500, Evicted: []Count{ago(time.Minute, 500), {At: noon, Count: 1}}},
		},
		"counts below one are no counts": {
			in:   Input{Pods: 3, Percent: 10, Evicted: []Count{ago(time.Minute, -7), ago(time.Minute, 0)}},
			want: Verdict{Allowed: true, Limit: 20, Evicted: []Count{{At: noon, Count: 1}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.in.Now = noon
			if diff := cmp.Diff(test.want, Decide(test.in)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoWindowHasMoreEvictionsThanTheLimit asks again and again, as agents do, with a clock that is sometimes set back.
func TestNoWindowHasMoreEvictionsThanTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pods, percent := rapid.IntRange(0, 2000).Draw(t, "pods"), rapid.IntRange(0, 99).Draw(t, "percent")
		now, record := noon, Record{}
		var allowed []time.Time
		for range rapid.IntRange(1, 400).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "seconds")) * time.Second)
			verdict := Decide(Input{Now: now, Evicted: record.Evicted, Pods: pods, Percent: percent})
			if verdict.Allowed {
				allowed = append(allowed, now)
			}
			record = verdict.Record()
			within := 0
			for _, at := range allowed {
				// A count is forgotten up to ten seconds early, because it is known by the beginning of its ten seconds.
				if now.Sub(at) < Window-granularity {
					within++
				}
			}
			if within > verdict.Limit {
				t.Fatalf("%d evictions within the window, want at most %d", within, verdict.Limit)
			}
			if len(record.Evicted) > int(Window/granularity)+1 {
				t.Fatalf("%d counts are remembered, want at most 61", len(record.Evicted))
			}
		}
	})
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	want := Record{Evicted: []Count{ago(time.Minute, 3), ago(0, 17)}, Limit: 20}
	got, err := ParseRecord(want.Data())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if used, usedUp := got.Used(noon); used != 20 || !usedUp {
		t.Errorf("used %d, used up %t, want 20 and true", used, usedUp)
	}
	if used, usedUp := got.Used(noon.Add(Window)); used != 0 || usedUp {
		t.Errorf("ten minutes later: used %d, used up %t, want 0 and false", used, usedUp)
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add(`[{"at":"2026-05-04T12:00:00Z","count":3}]`, "20")
	f.Add(`{`, "-1")
	f.Fuzz(func(t *testing.T, evicted, limit string) {
		record, err := ParseRecord(map[string]string{evictionsKey: evicted, limitKey: limit})
		if err != nil {
			return
		}
		if verdict := Decide(Input{Now: noon, Evicted: record.Evicted, Percent: 10}); verdict.Limit < Least {
			t.Errorf("limit %d, want at least %d", verdict.Limit, Least)
		}
	})
}
