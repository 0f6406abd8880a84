package qos

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"syscall"
	"time"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// reclaimed is what one round came to for one group.
type reclaimed struct {
	at time.Time
	// asked of the kernel, and usage before and after; in bytes.
	asked, before, after int64
	why                  string
	// err is the kernel's answer to the last step.
	err error
}

// reclaimTally is what was reclaimed of one group since the audit log had an entry of it.
type reclaimTally struct {
	// told is the time of the last entry; zero before the first.
	told time.Time
	// rounds since, the first one and the last.
	rounds      int
	first, last reclaimed
	asked       int64
	// refused is what the kernel answered last that is more than having less than it was asked for; nil without.
	refused error
}

func (t *reclaimTally) add(done reclaimed) {
	if t.rounds == 0 {
		t.first, t.asked, t.refused = done, 0, nil
	}
	t.rounds++
	t.last = done
	t.asked += done.asked
	if done.err != nil && !errors.Is(done.err, syscall.EAGAIN) && !files.IsGone(done.err) {
		t.refused = done.err
	}
}

// due is true when something was not audited yet, and the last entry is some time ago.
func (t *reclaimTally) due(now time.Time) bool {
	age := now.Sub(t.told)
	return t.rounds > 0 && (t.told.IsZero() || age >= reclaimTold || age < 0)
}

// entry for the audit log.
func (t *reclaimTally) entry(object string) audit.Entry {
	out := audit.Entry{
		Time: t.first.at, Owner: MemoryQoS{}.Name(), Object: object, Old: strconv.FormatInt(t.first.before, 10), New: strconv.FormatInt(t.last.after, 10),
		Why: fmt.Sprintf("asked for %d bytes: %s", t.asked, t.last.why),
	}
	if t.rounds > 1 {
		out.Why = fmt.Sprintf("asked for %d bytes in %d rounds: %s", t.asked, t.rounds, t.last.why)
	}
	if t.refused != nil {
		out.Error = t.refused.Error()
	}
	return out
}

// audit adds to the audit log what is due, and all of groups that are looked at no longer, which are forgotten.
func (r *Reclaimer) audit(now time.Time, round reclaimRound) {
	for _, at := range slices.Sorted(maps.Keys(r.tallies)) {
		tally := r.tallies[at]
		stays := slices.ContainsFunc(round.groups, func(g reclaimGroup) bool { return g.cgroup == at })
		if tally.due(now) || tally.rounds > 0 && !stays {
			path, _ := round.layout.Path(cgroup.MemoryReclaim, at)
			round.audit.Add(tally.entry(path))
			tally.told, tally.rounds = now, 0
		}
		if !stays {
			delete(r.tallies, at)
		}
	}
}
