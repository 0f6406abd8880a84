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
		want   hint
		wantIn time.Duration
	}{
		{"nothing for a while", 4 * time.Second, hint{}, hint{}, 6 * time.Second},
		{"a kill is read again until it settles", 100 * time.Millisecond, hint{pods: one}, hint{pods: one}, 0},
		{"and nothing else is heard", 100 * time.Millisecond, hint{}, hint{pods: one}, 0},
		{"another one meanwhile", 500 * time.Millisecond, hint{pods: two}, hint{pods: both}, 0},
		{"both have settled", 1100 * time.Millisecond, hint{}, hint{}, 4200 * time.Millisecond},
		{"a cgroup is new, and does not settle", time.Second, hint{all: true}, hint{all: true}, 10 * time.Second},
		{"one pod is killed all the time", 9 * time.Second, hint{pods: one}, hint{pods: one}, 0},
		{"which does not put off the others", time.Second, hint{pods: one}, hint{all: true, pods: one}, 0},
		{"nor does a notification on all pods", 10 * time.Second, hint{total: true}, hint{all: true, total: true}, 0},
	}
	s, at := schedule{interval: DefaultInterval}, now
	s.looked(at, hint{all: true})
	for _, step := range steps {
		at = at.Add(step.after)
		got := s.next(at, step.heard)
		if diff := cmp.Diff(step.want.or(hint{}), got, cmp.AllowUnexported(hint{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		s.looked(at, got)
		if got := s.wait(at); got != step.wantIn {
			t.Errorf("%s: again in %s, want %s", step.name, got, step.wantIn)
		}
	}
}
