package connection

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// agents is how many come back to an API server at the same time.
const agents = 5000

// comeBack has all agents ask an API server that fails for a while, and returns when each was answered after that, the first one first,
// and how often they asked in vain. It runs in a bubble.
func comeBack(t *testing.T, away time.Duration, failure error) (arrivals []time.Duration, vain int) {
	back := time.Now().Add(away)
	var mu sync.Mutex
	var group sync.WaitGroup
	for range agents {
		group.Go(func() {
			_, err := patiently(t.Context(), func() (struct{}, error) {
				mu.Lock()
				defer mu.Unlock()
				if time.Now().Before(back) {
					vain++
					return struct{}{}, failure
				}
				arrivals = append(arrivals, time.Since(back))
				return struct{}{}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	slices.Sort(arrivals)
	return arrivals, vain
}

// fullest is the most arrivals within a quarter of a second, of those in order.
func fullest(arrivals []time.Duration) int {
	most, first := 0, 0
	for i := range arrivals {
		for arrivals[i]-arrivals[first] >= 250*time.Millisecond {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// TestAgentsComeBackSpread: however long an API server was away, and whatever it asked for, no agent waits for long after that, and
// they do not come together.
func TestAgentsComeBackSpread(t *testing.T) {
	refused := fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	tests := map[string]struct {
		away    time.Duration
		failure error
		// wantFirst and wantLast bound the time of the first and the last agent after the API server is back.
		wantFirst, wantLast time.Duration
		// wantFullest bounds the agents in the fullest quarter of a second, and wantVain how often one asks in vain.
		wantFullest, wantVain int
	}{
		"away for a moment":         {time.Millisecond, refused, 700 * time.Millisecond, 1250 * time.Millisecond, agents * 55 / 100, 1},
		"away for five seconds":     {5 * time.Second, refused, 0, 5 * time.Second, agents * 15 / 100, 4},
		"away for a minute":         {time.Minute, refused, 0, 7500 * time.Millisecond, agents * 7 / 100, 15},
		"not ready for a minute":    {time.Minute, apierrors.NewServiceUnavailable("not ready"), 0, 7500 * time.Millisecond, agents * 7 / 100, 15},
		"asks for five seconds":     {time.Millisecond, apierrors.NewTooManyRequests("busy", 5), 4900 * time.Millisecond, 7500 * time.Millisecond, agents * 13 / 100, 1},
		"asks for half a minute":    {time.Millisecond, apierrors.NewTooManyRequests("busy", 30), 29900 * time.Millisecond, 33 * time.Second, agents * 11 / 100, 1},
		"asks for an hour":          {time.Millisecond, apierrors.NewTooManyRequests("busy", 3600), 59900 * time.Millisecond, 63 * time.Second, agents * 11 / 100, 1},
		"asks for less than a wait": {time.Minute, apierrors.NewTooManyRequests("busy", 1), 0, 7500 * time.Millisecond, agents * 7 / 100, 15},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				arrivals, vain := comeBack(t, test.away, test.failure)
				if len(arrivals) != agents || arrivals[0] < test.wantFirst || arrivals[agents-1] > test.wantLast {
					t.Errorf("%d agents came %s to %s after the API server, want %d from %s to %s", len(arrivals), arrivals[0], arrivals[len(arrivals)-1],
						agents, test.wantFirst, test.wantLast)
				}
				if got := fullest(arrivals); got > test.wantFullest {
					t.Errorf("%d agents came within a quarter of a second, want at most %d", got, test.wantFullest)
				}
				if vain > agents*test.wantVain {
					t.Errorf("agents asked %d times in vain, want at most %d for each", vain, test.wantVain)
				}
			})
		})
	}
}

// TestWhatIsNoOutageIsNotWaitedFor: an informer has to hear of it.
func TestWhatIsNoOutageIsNotWaitedFor(t *testing.T) {
	for name, failure := range map[string]error{
		"a version that was forgotten": apierrors.NewResourceExpired("too old"),
		"forbidden":                    apierrors.NewForbidden(pods, "", nil), "an error of the server": apierrors.NewInternalError(syscall.EIO),
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begun := time.Now()
			_, err := patiently(ctx, func() (struct{}, error) { return struct{}{}, failure })
			if err != failure || time.Since(begun) > 0 {
				t.Errorf("%s: %v after %s, want it at once", name, err, time.Since(begun))
			}
		})
	}
}

// TestPatienceEndsWithItsContext at once.
func TestPatienceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begun := time.Now()
		_, err := patiently(ctx, func() (struct{}, error) { return struct{}{}, syscall.ECONNREFUSED })
		if err == nil || time.Since(begun) != 10*time.Second {
			t.Errorf("%v after %s, want an error after 10s", err, time.Since(begun))
		}
	})
}
