package kernelfs

import (
	"strings"
	"syscall"
)

// bandwidth is the CPU time of a cgroup in a period, in microseconds; a negative quota is none.
type bandwidth struct{ quota, period, burst int64 }

func (t *Tree) bandwidth(g *group) bandwidth {
	var b bandwidth
	if max, isV2 := g.content["cpu.max"]; isV2 {
		quota, period, _ := strings.Cut(max, " ")
		b.quota, b.period = -1, 0
		if quota != "max" {
			b.quota, _ = number(quota)
		}
		b.period, _ = number(period)
		b.burst, _ = number(g.content["cpu.max.burst"])
		return b
	}
	b.quota, _ = number(g.content["cpu.cfs_quota_us"])
	b.period, _ = number(g.content["cpu.cfs_period_us"])
	b.burst, _ = number(g.content["cpu.cfs_burst_us"])
	return b
}

// check reports whether a cgroup may have a bandwidth: bounds, the burst within the quota, and in version 1 no more than the one
// above it and no less than those below.
func (t *Tree) check(g *group, b bandwidth) error {
	switch {
	case g.parent == nil:
		return syscall.EINVAL
	case b.period < leastPeriod || b.period > mostPeriod:
		return syscall.EINVAL
	case b.quota >= 0 && (b.quota < leastQuota || b.burst > b.quota && !t.bursty || b.quota > mostQuota-b.burst):
		return syscall.EINVAL
	case t.version != 1 || b.quota < 0:
		return nil
	}
	if above := t.limitAbove(g); above.quota >= 0 && b.more(above) {
		return syscall.EINVAL
	}
	if t.exceeded(g, b) {
		return syscall.EINVAL
	}
	return nil
}

// more is true when the bandwidth is larger, by the share of a period.
func (b bandwidth) more(other bandwidth) bool { return b.quota*other.period > other.quota*b.period }

// limitAbove is the nearest limit above a cgroup.
func (t *Tree) limitAbove(g *group) bandwidth {
	for at := g.parent; at != nil; at = at.parent {
		if b := t.bandwidth(at); b.quota >= 0 {
			return b
		}
	}
	return bandwidth{quota: -1}
}

// exceeded is true when a cgroup below has more than a bandwidth.
func (t *Tree) exceeded(g *group, b bandwidth) bool {
	for _, child := range g.children {
		below := t.bandwidth(child)
		if below.quota >= 0 && below.more(b) || below.quota < 0 && t.exceeded(child, b) {
			return true
		}
	}
	return false
}

func setQuotaV1(t *Tree, g *group, value string) (string, error) {
	quota, err := number(value)
	if err != nil {
		return "", err
	}
	b := t.bandwidth(g)
	b.quota = max(quota, -1)
	return format(b.quota), t.check(g, b)
}

func setPeriodV1(t *Tree, g *group, value string) (string, error) {
	period, err := number(value)
	if err != nil {
		return "", err
	}
	b := t.bandwidth(g)
	b.period = period
	return format(period), t.check(g, b)
}

func setBurstV1(t *Tree, g *group, value string) (string, error) {
	burst, err := number(value)
	if err != nil || burst < 0 {
		return "", syscall.EINVAL
	}
	b := t.bandwidth(g)
	b.burst = burst
	return format(burst), t.check(g, b)
}

func setBurstV2(t *Tree, g *group, value string) (string, error) { return setBurstV1(t, g, value) }

// setMax takes a quota, and a period if a number follows; what else follows is not looked at.
func setMax(t *Tree, g *group, value string) (string, error) {
	words := strings.Fields(value)
	if len(words) < 1 {
		return "", syscall.EINVAL
	}
	b := t.bandwidth(g)
	b.quota = -1
	var err error
	if words[0] != "max" {
		if b.quota, err = number(words[0]); err != nil || b.quota < 0 {
			return "", syscall.EINVAL
		}
	}
	if len(words) > 1 {
		if period, err := number(words[1]); err == nil {
			b.period = period
		}
	}
	if err := t.check(g, b); err != nil {
		return "", err
	}
	if b.quota < 0 {
		return "max " + format(b.period), nil
	}
	return format(b.quota) + " " + format(b.period), nil
}
