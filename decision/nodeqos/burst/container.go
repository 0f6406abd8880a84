package burst

import (
	"fmt"
	"time"

	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cfs"
)

// Factors by which a quota grows and shrinks per round, in percent.
const (
	growPercent   = 120
	shrinkPercent = 80
)

// Operation on a quota.
type Operation string

// Operations that a round may carry out.
const (
	Grow   Operation = "grow"
	Shrink Operation = "shrink"
	Keep   Operation = "keep"
	// Reset brings the quota back to the limit.
	Reset Operation = "reset"
	// Leave is for containers without a quota.
	Leave Operation = "leave"
)

// Container is one running container.
type Container struct {
	Name string
	// ID by which its bucket is found again.
	ID string
	// Limit in milli-cores; 0 or less is none.
	Limit int64
	// CurrentQuota in microseconds per period; -1 for none.
	CurrentQuota int64
	// Throttled since the last round; false also when that is not known.
	Throttled bool
	// Used CPU in milli-cores; nil when not measured.
	Used *int64
}

// ContainerResult is what one container gets.
type ContainerResult struct {
	Name string `json:"name"`
	ID   string `json:"id"`
	// BurstMicros is cpu.cfs_burst_us, and BurstWanted what it would be if the kernel allowed more than the quota.
	BurstMicros int64 `json:"burstMicros"`
	BurstWanted int64 `json:"burstWanted,omitempty"`
	// Base quota of the limit, the Ceiling of the quota, what it is and what it shall be; in microseconds.
	Base    int64 `json:"base"`
	Ceiling int64 `json:"ceiling"`
	Current int64 `json:"current"`
	Quota   int64 `json:"quota"`
	// Operation that led there, and why.
	Operation Operation `json:"operation"`
	Reason    string    `json:"reason"`
	// Tokens left; nil when the burst is not bounded in time.
	Tokens *int64 `json:"tokens,omitempty"`
}

// stepper is what all containers of a pod have in common.
type stepper struct {
	config            Config
	pool              Pool
	now               time.Time
	fill              float64
	burstWithinQuota  bool
	normalization     int64
	before, remembers map[string]Bucket
}

// base is the quota of a limit in milli-cores, on CPUs that may be worth more than those it was stated in.
func (s *stepper) base(limit int64) int64 { return cfs.Normalized(cfs.Quota(limit), s.normalization) }

// step decides one container.
func (s *stepper) step(c Container) ContainerResult {
	out := ContainerResult{Name: c.Name, ID: c.ID, Base: s.base(c.Limit), Current: c.CurrentQuota, Quota: c.CurrentQuota}
	if c.Limit <= 0 {
		out.Operation, out.Reason = Leave, "the container has no CPU limit"
		return out
	}
	out.burst(s.config)
	if s.burstWithinQuota {
		out.BurstMicros = within(out.BurstMicros, out.Base, c.CurrentQuota)
	}
	out.Ceiling = max(capacity.Percent(out.Base, s.config.QuotaBurstPercent), out.Base)
	if c.CurrentQuota <= 0 {
		out.Operation, out.Reason = Leave, "no quota is in force"
		return out
	}
	out.Operation, out.Reason = s.operation(c, &out)
	switch out.Operation {
	case Grow:
		out.Quota = max(capacity.Percent(c.CurrentQuota, growPercent), c.CurrentQuota+1)
	case Shrink:
		out.Quota = capacity.Percent(c.CurrentQuota, shrinkPercent)
	case Reset:
		out.Quota = out.Base
	}
	out.Quota = max(min(out.Quota, out.Ceiling), out.Base)
	return out
}

// burst is how much unused quota may be saved up.
func (r *ContainerResult) burst(config Config) {
	if !config.saves() {
		return
	}
	r.BurstWanted = capacity.Percent(r.Base, max(config.CPUBurstPercent, 0))
	r.BurstMicros = r.BurstWanted
}

// within is how much may be saved up where the kernel refuses more than the quota: that of the limit, and the one in force, which
// is smaller while a limit that grew has not reached the kernel.
func within(saved, base, current int64) int64 {
	saved = min(saved, base)
	if current > 0 {
		saved = min(saved, current)
	}
	return saved
}

// operation on the quota of a container.
func (s *stepper) operation(c Container, out *ContainerResult) (Operation, string) {
	if !s.config.scales() {
		return Reset, fmt.Sprintf("policy %s does not raise the quota", s.config.Policy)
	}
	allowed := true
	if s.config.PeriodSeconds >= 0 {
		var used *int64
		if c.Used != nil {
			used = new(percent(*c.Used, c.Limit))
		}
		bucket, more := s.before[c.ID].Step(s.config, s.now, used, s.fill)
		s.remembers[c.ID] = bucket
		out.Tokens, allowed = &bucket.Tokens, more
	}
	switch {
	case !allowed:
		return Shrink, "its tokens are used up"
	case s.pool.State == Overloaded:
		return Shrink, s.pool.Reason
	case !c.Throttled:
		return Keep, "it was not throttled"
	case s.pool.State != Idle:
		return Keep, "it was throttled, but the shared CPUs are overloaded: " + s.pool.Reason
	}
	return Grow, "it was throttled"
}

// percent is used/limit; both in milli-cores.
func percent(used, limit int64) int64 {
	return min(max(used, 0), mostCapacity) * 100 / limit
}
