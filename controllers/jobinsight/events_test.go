package jobinsight

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"koordinator.sh/koord/controllers/jobinsight/engines"
	"koordinator.sh/koord/decision/core/enginerun"
	"koordinator.sh/koord/decision/core/jobinsight"
)

// application n of an engine ran for an hour, until n minutes after noon.
func application(n int) enginerun.Event {
	ended := noon.Add(time.Duration(n) * time.Minute)
	return enginerun.Event{
		Source: jobinsight.YARN, ID: fmt.Sprint("application_", n), Outcome: jobinsight.Completed, Started: ended.Add(-time.Hour), Ended: ended,
		Kind: jobinsight.Kind{User: "etl", Application: "wordcount", Shape: "yarn/MAPREDUCE"}, Memory: 4 << 30, CPUSeconds: 7200,
	}
}

// tell the collector what yarn/prod says, and return from when it is read next.
func (r *rig) tell(err error, events ...enginerun.Event) time.Time {
	since := make(chan time.Time, 1)
	r.learnEvents(r.t.Context(), told{engine: "yarn/prod", events: events, err: err, since: since})
	return <-since
}

func (r *rig) applications() uint32 {
	if got := r.store.Predict(application(0).Kind, 0.9, nil).Of(jobinsight.Duration); got != nil {
		return got.Runs
	}
	return 0
}

// TestApplicationsAreLearnedOnce though the engine tells of them again, and koord-manager restarts.
func TestApplicationsAreLearnedOnce(t *testing.T) {
	r := newRig(t)
	r.clock.SetTime(noon.Add(time.Hour))
	incomplete := application(4)
	incomplete.Outcome = ""
	all := []enginerun.Event{application(3), application(1), application(2), incomplete}
	for range 2 {
		if since := r.tell(nil, all...); !since.Equal(noon.Add(2 * time.Minute)) {
			t.Errorf("the engine is read from %s", since)
		}
		if err := r.save(t.Context(), r.clock.Now()); err != nil {
			t.Fatal(err)
		}
		if got := r.applications(); got != 3 {
			t.Fatalf("%d applications are learned, want 3", got)
		}
		r.restart(r.collector.client)
	}
	r.tell(nil, append(all, application(5))...)
	if got := r.applications(); got != 4 {
		t.Errorf("%d applications are learned, want 4", got)
	}
	// A store that is damaged does not know what it had learned.
	r.written[0] = nil
	if err := r.write(t.Context(), 0, []byte("damaged")); err != nil {
		t.Fatal(err)
	}
	r.restart(r.collector.client)
	r.dirty = true
	if err := r.save(t.Context(), r.clock.Now()); err != nil {
		t.Fatal(err)
	}
	r.restart(r.collector.client)
	r.tell(nil, all...)
	if got := r.applications(); got != 0 {
		t.Errorf("%d applications are learned of the time before the damage, want none", got)
	}
}

// TestAnEngineThatCannotBeRead is reported once, until it can.
func TestAnEngineThatCannotBeRead(t *testing.T) {
	r := newRig(t)
	for range 2 {
		for range 3 {
			r.tell(errors.New("connection refused"))
		}
		if got := <-r.events.Events; !strings.Contains(got, "[KOORD0308] yarn/prod: connection refused") || len(r.events.Events) > 0 {
			t.Errorf("the event is %q, and %d follow", got, len(r.events.Events))
		}
		r.tell(nil, application(0), application(1), application(2))
	}
	if got := r.applications(); got != 3 {
		t.Errorf("%d applications are learned, want 3", got)
	}
}

// TestAnEngineThatHangsKeepsNobodyWaiting, and the readers end with their context.
func TestAnEngineThatHangsKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		hangs := func(ctx context.Context, _ time.Time) ([]enginerun.Event, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		var asked []time.Time
		works := func(_ context.Context, since time.Time) ([]enginerun.Event, error) {
			asked = append(asked, since)
			return nil, nil
		}
		r := newReaders([]engines.Engine{{Name: "yarn/hangs", Interval: time.Second, Read: hangs}, {Name: "yarn/works", Interval: time.Second, Read: works}}, clock.RealClock{})
		r.start(ctx, jobinsight.NewStore(0))
		for i := range 3 {
			got := <-r.told
			if got.engine != "yarn/works" {
				t.Errorf("%s told %v", got.engine, got.err)
			}
			got.since <- noon.Add(time.Duration(i) * time.Minute)
		}
		synctest.Wait()
		cancel()
		r.running.Wait()
		if len(asked) != 3 || !asked[0].IsZero() || !asked[2].Equal(noon.Add(time.Minute)) {
			t.Errorf("asked from %s", asked)
		}
	})
}
