package alarm

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestCgroupsAreLookedForNowAndThen checks that cgroups are listed at intervals, however often the kernel sends events.
func TestCgroupsAreLookedForNowAndThen(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tc := range map[string]struct {
		matched time.Time
		want    time.Duration
	}{
		"never looked for":       {time.Time{}, 0},
		"a moment ago":           {now, matchInterval},
		"a while ago":            {now.Add(-4 * time.Second), matchInterval - 4*time.Second},
		"long ago":               {now.Add(-time.Hour), 0},
		"the clock was set back": {now.Add(time.Hour), 0},
	} {
		l := listener{matched: tc.matched}
		if got := l.untilMatch(now); got != tc.want {
			t.Errorf("%s: again in %s, want %s", name, got, tc.want)
		}
	}
}

// TestWaitingEnds by the descriptor that wakes, and by time; a trigger whose cgroup went is released.
func TestWaitingEnds(t *testing.T) {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(wake) }()
	l := &listener{set: map[string]int{}}
	if l.wait(wake, 0) {
		t.Error("an alarm of nothing")
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(ends[1]) // the other end hangs up
	l.set["gone"] = ends[0]
	if l.wait(wake, time.Minute) || len(l.set) > 0 {
		t.Errorf("still set: %v", l.set)
	}
	if _, err := unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if l.wait(wake, time.Hour) {
		t.Error("an alarm of the end")
	}
}
