package oomkill

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// hint is where the kernel may have killed something.
type hint struct {
	// all says that it can be anywhere, and total that it shows in the counter of all pods.
	all, total bool
	// pods of which it is known.
	pods map[types.UID]bool
}

// killed says that the kernel notified of memory that ran out, and not only of a new cgroup.
func (h hint) killed() bool { return h.total || len(h.pods) > 0 }

func (h hint) or(other hint) hint {
	out := hint{all: h.all || other.all, total: h.total || other.total, pods: map[types.UID]bool{}}
	maps.Copy(out.pods, h.pods)
	maps.Copy(out.pods, other.pods)
	return out
}

// schedule is when counters are read and which.
type schedule struct {
	// interval in which all are read, and complete is when they were last.
	interval time.Duration
	complete time.Time
	// settling are those to be read again and again until a time, and once after it.
	settling hint
	settled  time.Time
}

// looked takes that counters were read, beginning at a time, and that the kernel notifies of fresh pods since.
func (s *schedule) looked(now time.Time, where hint, fresh map[types.UID]bool) {
	if where.all {
		s.complete = now
	}
	if !now.Before(s.settled) {
		s.settling = hint{}
	}
	if len(fresh) > 0 {
		s.settle(hint{pods: fresh}, now)
	}
}

func (s *schedule) settle(where hint, now time.Time) {
	s.settling, s.settled = s.settling.or(where), now.Add(settleTime)
}

// wait is how long the kernel is listened to before counters are read without a notification.
func (s *schedule) wait(now time.Time) time.Duration {
	if s.settling.killed() {
		return 0
	}
	return max(s.complete.Add(s.interval).Sub(now), 0)
}

// next is what to read after what was heard.
func (s *schedule) next(now time.Time, heard hint) hint {
	if heard.killed() {
		s.settle(hint{total: heard.total, pods: heard.pods}, now)
	}
	out := s.settling.or(heard)
	out.all = out.all || now.Sub(s.complete) >= s.interval
	return out
}
