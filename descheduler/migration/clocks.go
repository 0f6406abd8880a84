package migration

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// clocks measure the time of each job from when it was first seen, so that a clock that is set meanwhile does not change how long the job
// may still take. A clock that is behind what the job records starts there.
type clocks struct {
	clock clock.PassiveClock
	mutex sync.Mutex
	// first is when a job was seen, by the clock and by the job's own time.
	first map[types.UID]firstSeen
}

type firstSeen struct {
	// at has the monotonic reading that time differences are taken by.
	at  time.Time
	own time.Time
}

func newClocks(clock clock.PassiveClock) *clocks {
	return &clocks{clock: clock, first: map[types.UID]firstSeen{}}
}

// now is the time of a job of which latest is the latest time it records.
func (c *clocks) now(uid types.UID, latest time.Time) time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	first, known := c.first[uid]
	if !known {
		first = firstSeen{at: c.clock.Now(), own: c.clock.Now().Round(0)}
		if latest.After(first.own) {
			first.own = latest
		}
		c.first[uid] = first
	}
	return first.own.Add(c.clock.Since(first.at))
}

// forget a job that has ended.
func (c *clocks) forget(uid types.UID) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.first, uid)
}
