package qos

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/machine"
	"koordinator.sh/koord/decision/nodeqos/memoryqos"
)

const (
	// reclaimStep is what is asked for at once, in bytes: the kernel does not return before it has tried.
	reclaimStep = 4 << 20
	// reclaimDeadline ends the work on one group in a round.
	reclaimDeadline = 500 * time.Millisecond
	// reclaimRest is how long a group is left alone of which the kernel got less than was asked for.
	reclaimRest = 10 * time.Second
	// reclaimTold is the time between two entries of the audit log about one group: one that streams files is reclaimed every second.
	reclaimTold = time.Minute
)

// Reclaimer takes memory from groups that come close to their limit, where the kernel has no watermarks for a group.
// It works in a separate goroutine, because reclaiming takes as long as the kernel needs. submit and Run may be called at the same
// time.
type Reclaimer struct {
	rounds chan reclaimRound
	// reclaiming are the groups that are not yet at their low watermark, and resting when others may be tried again.
	reclaiming map[string]bool
	resting    map[string]time.Time
	// tallies are what was reclaimed of each group, for the audit log.
	tallies map[string]*reclaimTally
}

// NewReclaimer returns a Reclaimer that does nothing before it is run.
func NewReclaimer() *Reclaimer {
	return &Reclaimer{rounds: make(chan reclaimRound, 1), reclaiming: map[string]bool{}, resting: map[string]time.Time{}, tallies: map[string]*reclaimTally{}}
}

// reclaimRound is all that one round looks at.
type reclaimRound struct {
	tree   files.FS
	layout cgroup.Layout
	audit  *audit.Log
	groups []reclaimGroup
}

// reclaimGroup is one cgroup with a watermark.
type reclaimGroup struct {
	cgroup string
	// ratio of the limit in percent, and scale in thousandths below.
	ratio, scale int64
}

// submit gives the next round to the goroutine, unless the last one is still to come. It never waits.
func (r *Reclaimer) submit(round reclaimRound) {
	select {
	case r.rounds <- round:
	default:
	}
}

// Run works until the context ends.
func (r *Reclaimer) Run(ctx context.Context, clock clock.PassiveClock) {
	for {
		select {
		case <-ctx.Done():
			return
		case round := <-r.rounds:
			r.work(ctx, clock, round)
		}
	}
}

// work is one round over all groups. What is known of groups that are not among them is forgotten.
func (r *Reclaimer) work(ctx context.Context, clock clock.PassiveClock, round reclaimRound) {
	reclaiming, resting := map[string]bool{}, map[string]time.Time{}
	defer func() { r.audit(clock.Now(), round) }()
	for _, group := range round.groups {
		if ctx.Err() != nil {
			return
		}
		if until, rests := r.resting[group.cgroup]; rests && clock.Now().Before(until) {
			resting[group.cgroup], reclaiming[group.cgroup] = until, r.reclaiming[group.cgroup]
			continue
		}
		input, err := round.readGroup(group)
		if err != nil {
			continue // it has gone, or its kernel does not show it
		}
		input.Reclaiming = r.reclaiming[group.cgroup]
		decision := memoryqos.ReclaimOf(input, nil)
		reclaiming[group.cgroup] = decision.Reclaiming
		if decision.Bytes == 0 {
			continue
		}
		done := round.reclaim(ctx, clock, group, input.Usage, decision)
		if done.err != nil {
			resting[group.cgroup] = clock.Now().Add(reclaimRest)
		}
		if r.tallies[group.cgroup] == nil {
			r.tallies[group.cgroup] = &reclaimTally{}
		}
		r.tallies[group.cgroup].add(done)
	}
	r.reclaiming, r.resting = reclaiming, resting
}

// reclaim asks for memory step by step.
func (r *reclaimRound) reclaim(ctx context.Context, clock clock.PassiveClock, group reclaimGroup, usage int64, decision memoryqos.Reclaim) reclaimed {
	path, _ := r.layout.Path(cgroup.MemoryReclaim, group.cgroup)
	out := reclaimed{at: clock.Now(), before: usage, why: fmt.Sprintf("%s of %d, down to %d", decision.Reason, decision.High, decision.Low)}
	for out.asked < decision.Bytes && out.err == nil && ctx.Err() == nil && clock.Since(out.at) < reclaimDeadline {
		step := min(decision.Bytes-out.asked, reclaimStep)
		out.err = r.tree.Write(path, strconv.FormatInt(step, 10))
		out.asked += step
	}
	var problems []error
	out.after = r.number(r.layout.Statistic(cgroup.MemoryUsage, group.cgroup), cgroup.MemoryMin, &problems)
	return out
}

// readGroup reads what a decision needs. The limit is the smaller of those that the group has.
func (r *reclaimRound) readGroup(group reclaimGroup) (memoryqos.ReclaimInput, error) {
	out := memoryqos.ReclaimInput{WmarkRatio: group.ratio, WmarkScalePermill: group.scale}
	var problems []error
	value := func(setting cgroup.Setting) int64 {
		path, _ := r.layout.Path(setting, group.cgroup)
		return r.number(path, setting, &problems)
	}
	out.Limit = value(cgroup.MemoryLimit)
	if high := value(cgroup.MemoryHigh); high > 0 && (out.Limit <= 0 || high < out.Limit) {
		out.Limit = high
	}
	out.Protected = max(value(cgroup.MemoryMin), value(cgroup.MemoryLow))
	out.Usage = r.number(r.layout.Statistic(cgroup.MemoryUsage, group.cgroup), cgroup.MemoryMin, &problems)
	stat, err := r.tree.Read(r.layout.Statistic(cgroup.MemoryStat, group.cgroup), nil)
	problems = append(problems, err)
	out.Reclaimable = machine.PageCache(stat)
	if pressure, err := r.tree.Read(group.cgroup+"/memory.pressure", nil); err == nil {
		out.StallPercent = stall(string(pressure))
	}
	return out, errors.Join(problems...)
}

func (r *reclaimRound) number(path string, setting cgroup.Setting, problems *[]error) int64 {
	content, err := r.tree.Read(path, nil)
	var value string
	if err == nil {
		value, err = setting.Decode(r.layout.Version, string(content))
	}
	*problems = append(*problems, err)
	number, _ := strconv.ParseInt(value, 10, 64) // zero beside the problem
	return number
}

// stall is the time in which all processes waited for memory, averaged over ten seconds, in percent.
func stall(pressure string) float64 {
	for line := range strings.Lines(pressure) {
		rest, found := strings.CutPrefix(line, "full avg10=")
		if !found {
			continue
		}
		text, _, _ := strings.Cut(rest, " ")
		percent, err := strconv.ParseFloat(text, 64)
		if err == nil && percent >= 0 && percent <= 100 {
			return percent
		}
	}
	return 0
}
