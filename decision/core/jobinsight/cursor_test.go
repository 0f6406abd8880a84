package jobinsight

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestARunIsTakenOnce also after a restart, and though an engine tells late of some.
func TestARunIsTakenOnce(t *testing.T) {
	s, later := NewStore(0), noon.Add(time.Hour)
	take := func(id string, ended time.Time) bool { return s.Take("yarn/prod", id, ended, later) }
	if !s.EventsFrom("yarn/prod").IsZero() {
		t.Error("a new reader does not read everything")
	}
	steps := []struct {
		name  string
		id    string
		ended time.Time
		want  bool
	}{
		{"the first", "a", noon, true},
		{"the first again", "a", noon, false},
		{"another of the same instant", "b", noon, true},
		{"a later one", "c", noon.Add(time.Minute), true},
		{"one that is told late", "d", noon.Add(30 * time.Second), true},
		{"one that is told late, again", "d", noon.Add(30 * time.Second), false},
		{"much later", "e", noon.Add(10 * time.Minute), true},
		{"one that is told too late", "f", noon.Add(time.Minute), false},
		{"the first after long", "a", noon, false},
		{"one without an end", "g", time.Time{}, false},
		{"one of the future", "h", later.Add(time.Hour), false},
	}
	for _, step := range steps {
		var loss Loss
		if s, loss = Decode(s.Encode(0), 0); loss.Any() {
			t.Fatalf("before %s: %s", step.name, loss.String())
		}
		if got := take(step.id, step.ended); got != step.want {
			t.Errorf("%s: taken %v, want %v", step.name, got, step.want)
		}
	}
	if got, want := s.EventsFrom("yarn/prod"), noon.Add(8*time.Minute); !got.Equal(want) {
		t.Errorf("events are read from %s, want %s", got, want)
	}
	if !s.Take("yarn/test", "a", noon, later) {
		t.Error("readers share a cursor")
	}
}

func TestAReaderRemembersABoundedNumberOfRuns(t *testing.T) {
	s := NewStore(0)
	for i := range 5 * mostSeen {
		if !s.Take("trino/adhoc", fmt.Sprint(i), noon.Add(time.Duration(i)*time.Millisecond), noon) {
			t.Fatalf("run %d is not taken", i)
		}
	}
	if got := len(s.cursors["trino/adhoc"].seen); got > mostSeen {
		t.Errorf("%d runs are remembered", got)
	}
	for i := range 5 * mostSeen {
		if s.Take("trino/adhoc", fmt.Sprint(i), noon.Add(time.Duration(i)*time.Millisecond), noon) {
			t.Fatalf("run %d is taken twice", i)
		}
	}
}

// TestADamagedStoreLearnsNothingTwice: what it had learned from events is not known any more.
func TestADamagedStoreLearnsNothingTwice(t *testing.T) {
	s := NewStore(0)
	s.ReadEventsFrom(noon)
	if s.Take("yarn/prod", "a", noon.Add(-time.Second), noon) || !s.Take("yarn/prod", "b", noon.Add(time.Second), noon) {
		t.Error("not what ended from then on is taken")
	}
	if got := s.EventsFrom("yarn/prod"); !got.Equal(noon) {
		t.Errorf("events are read from %s", got)
	}
}

// TestWhatEnginesTellIsApart: pods of other jobs are not predicted from it, and estimates say who told.
func TestWhatEnginesTellIsApart(t *testing.T) {
	s := repeated(daily, 9, Completed, 1, time.Minute)
	last := s.Last()
	query := Kind{User: "alice", Queue: "analytics", Application: "daily-report", Shape: "yarn"}
	for i := range 9 {
		run := ended(query, 100+i, Completed, 500, time.Hour)
		run.Source = YARN
		s.Observe(run)
	}
	s, loss := Decode(s.Encode(0), 0)
	if loss.Any() || !s.Last().Equal(last) {
		t.Errorf("the last pod ended at %s, want %s; %s", s.Last(), last, loss.String())
	}
	tests := map[string]struct {
		kind        Kind
		wantSources []string
		wantLevel   Level
		wantMost    float64
	}{
		"the application of YARN":    {query, []string{"yarn"}, ByKind, 900 * gib},
		"of another user":            {Kind{User: "bob", Application: query.Application, Shape: "yarn"}, []string{"yarn"}, ByShape, 900 * gib},
		"a pod of the same name":     {Kind{User: "bob", Application: query.Application}, []string{"pods"}, ByApplication, 2 * gib},
		"a pod in the same queue":    {Kind{User: "bob", Queue: query.Queue, Application: "new"}, []string{"pods"}, ByQueue, 2 * gib},
		"a pod of nothing like that": {Kind{User: "bob", Application: "new"}, []string{"pods"}, ByAll, 2 * gib},
	}
	for name, test := range tests {
		got := s.Predict(test.kind, 0.9, nil).Of(Memory)
		if got == nil || got.Level != test.wantLevel || got.High > test.wantMost {
			t.Errorf("%s: %+v, want by %s", name, got, test.wantLevel)
		} else if diff := cmp.Diff(test.wantSources, got.Sources.Names()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestQueriesThatRunOnceDriveOutNoJobs: they share what a store keeps with the jobs of every night.
func TestQueriesThatRunOnceDriveOutNoJobs(t *testing.T) {
	s := NewStore(256)
	for i := range 5 {
		s.Observe(ended(daily, i, Completed, 1, time.Minute))
	}
	for i := range 2000 {
		run := ended(Kind{User: "ana", Application: "superset", Shape: fmt.Sprint("trino/", i)}, 10+i, Completed, 1, time.Minute)
		run.Source = Trino
		if s.Observe(run); s.Len() > 256 {
			t.Fatalf("%d kinds", s.Len())
		}
	}
	if got := s.Predict(daily, 0.9, nil).Of(Memory); got.Level != ByKind || got.Runs != 5 {
		t.Errorf("the job of every night is predicted by %s", got.Level)
	}
}
