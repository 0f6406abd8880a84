package supervisor

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
)

// TestPrivateChildrenAreStartedInside enters once, before the first child, and never on the process's first thread, which would
// stay inside for as long as the process lives.
func TestPrivateChildrenAreStartedInside(t *testing.T) {
	dir := state.Open(processtest.Home(t), "demo")
	processtest.Must(t, dir.Create())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	entered, onFirst := 0, false
	var spawners []*spawner
	for range 4 { // at the same time, so that some begin on the first thread if any can
		spawners = append(spawners, newPrivateSpawner(ctx, func() error {
			mu.Lock()
			defer mu.Unlock()
			entered++
			onFirst = onFirst || realnode.OnFirstThread()
			return nil
		}))
	}
	for _, s := range spawners {
		for range 2 {
			child, err := s.start(ctx, dir, fake("kubelet", "fails", "was started"))
			processtest.Must(t, err)
			<-child.done
		}
	}
	cancel()
	for _, s := range spawners {
		processtest.AwaitClosed(t, "the end of a spawner", s.ended)
	}
	if entered != len(spawners) || onFirst {
		t.Errorf("entered %d times, on the first thread: %t; want once each, on another", entered, onFirst)
	}
}

func TestPrivateChildrenAreNotStartedOutside(t *testing.T) {
	dir := state.Open(processtest.Home(t), "demo")
	processtest.Must(t, dir.Create())
	ctx, cancel := context.WithCancel(t.Context())
	s := newPrivateSpawner(ctx, func() error { return errors.New("no namespace") })
	_, err := s.start(ctx, dir, fake("kubelet", "fails", "was started"))
	if err == nil || !strings.Contains(err.Error(), `start "kubelet": no namespace`) {
		t.Errorf("start() = %v; want that there is no namespace", err)
	}
	cancel()
	processtest.AwaitClosed(t, "the end of the spawner", s.ended)
}
