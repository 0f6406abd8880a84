package oomkill

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// TestAnImitationIsReadEveryTenSeconds and Run ends with its context.
func TestAnImitationIsReadEveryTenSeconds(t *testing.T) {
	for _, layout := range layouts {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(layout, "one")
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			var reported []time.Duration
			begun := time.Now()
			go func() {
				defer close(ended)
				New(Options{Tree: n.Tree, Layout: layout, Clock: clock.RealClock{}}).Run(ctx, func(kill Kill) {
					reported = append(reported, kill.Time.Sub(begun))
				})
			}()
			synctest.Wait()
			n.KillForMemory(n.container("one", "a"), 1)
			time.Sleep(25 * time.Second)
			n.KillForMemory(n.container("one", "a"), 1)
			time.Sleep(25 * time.Second)
			cancel()
			<-ended
			if diff := cmp.Diff([]time.Duration{10 * time.Second, 30 * time.Second}, reported); diff != "" {
				t.Errorf("reported after (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheSchedule(t *testing.T) {
	one, two := map[types.UID]bool{"one": true}, map[types.UID]bool{"two": true}
	both := map[types.UID]bool{"one": true, "two": true}
	steps := []struct {
		name   string
		after  time.Duration
		heard  hint
		fresh  map[types.UID]bool
		want   hint
		wantIn time.Duration
	}{
		{name: "nothing for a while", after: 4 * time.Second, wantIn: 6 * time.Second},
		{name: "a kill is read again until it settles", after: 100 * time.Millisecond, heard: hint{pods: one}, want: hint{pods: one}},
		{name: "and nothing else is heard", after: 100 * time.Millisecond, want: hint{pods: one}},
		{name: "another one meanwhile", after: 500 * time.Millisecond, heard: hint{pods: two}, want: hint{pods: both}},
		{name: "both have settled, and are read once more, however late that is", after: 2100 * time.Millisecond, want: hint{pods: both}, wantIn: 3200 * time.Millisecond},
		{name: "a cgroup is new, and does not settle", after: time.Second, heard: hint{all: true}, want: hint{all: true}, wantIn: 10 * time.Second},
		{name: "a container is new, and may be killed as it is found", after: time.Second, heard: hint{all: true}, fresh: two, want: hint{all: true}},
		{name: "so that it is read again", after: 100 * time.Millisecond, want: hint{pods: two}},
		{name: "until it has settled", after: time.Second, want: hint{pods: two}, wantIn: 8900 * time.Millisecond},
		{name: "one pod is killed all the time", after: 8 * time.Second, heard: hint{pods: one}, want: hint{pods: one}},
		{name: "which does not put off the others", after: time.Second, heard: hint{pods: one}, want: hint{all: true, pods: one}},
		{name: "nor does a notification on all pods", after: 10 * time.Second, heard: hint{total: true}, want: hint{all: true, total: true, pods: one}},
	}
	s, at := schedule{interval: DefaultInterval}, now
	s.looked(at, hint{all: true}, nil)
	for _, step := range steps {
		at = at.Add(step.after)
		got := s.next(at, step.heard)
		if diff := cmp.Diff(step.want.or(hint{}), got, cmp.AllowUnexported(hint{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		s.looked(at, got, step.fresh)
		if got := s.wait(at); got != step.wantIn {
			t.Errorf("%s: again in %s, want %s", step.name, got, step.wantIn)
		}
	}
}
