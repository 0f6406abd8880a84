package burst

import (
	"time"

	"koordinator.sh/koord/decision/core/cfs"
	"koordinator.sh/koord/decision/core/waterfall"
)

// PodInput is everything the burst of one pod depends on. Nothing in it is modified.
type PodInput struct {
	Now    time.Time
	Config Config
	Pool   Pool
	// Limit of the whole pod in milli-cores; 0 when one of its containers has none.
	Limit int64
	// CurrentQuota of the pod in microseconds per period; -1 for none.
	CurrentQuota int64
	Containers   []Container
	// Buckets by container ID as the last step returned them.
	Buckets map[string]Bucket
	// Fill is how full a new bucket is, 0 to 1. Different fills for different containers keep them from shrinking at once.
	Fill float64
	// NormalizationPercent is what one CPU of the node is worth: on CPUs worth 1.2, 120, the quota of a limit is 1/1.2 of it.
	// 100 and less change nothing.
	NormalizationPercent int64
	// BurstWithinQuota is true for kernels that refuse more saved time than the quota.
	BurstWithinQuota bool
}

// PodResult is what one pod and its containers get.
type PodResult struct {
	// BurstMicros and Quota of the pod in microseconds. A pod without a limit has no quota, -1, and saves nothing.
	BurstMicros int64 `json:"burstMicros"`
	Quota       int64 `json:"quota"`
	// Current quota of the pod.
	Current    int64             `json:"current"`
	Config     Config            `json:"config"`
	Pool       Pool              `json:"pool"`
	Containers []ContainerResult `json:"containers"`
	// Writes in an order in which no container ever has more than its pod.
	Writes []Write `json:"writes,omitempty"`
	// Buckets to hand in next time, of the containers there are.
	Buckets map[string]Bucket `json:"-"`
}

// Write is one value to write.
type Write struct {
	// Container name; empty for the pod.
	Container string `json:"container,omitempty"`
	// ID of the container.
	ID string `json:"id,omitempty"`
	// Quota in microseconds.
	Quota int64 `json:"quota"`
}

// Step decides one round of one pod.
func Step(in PodInput) PodResult {
	out := PodResult{Quota: cfs.Unlimited, Current: in.CurrentQuota, Config: in.Config, Pool: in.Pool, Buckets: map[string]Bucket{}}
	s := &stepper{
		config: in.Config, pool: in.Pool, now: in.Now, fill: in.Fill, burstWithinQuota: in.BurstWithinQuota,
		normalization: in.NormalizationPercent, before: in.Buckets, remembers: out.Buckets,
	}
	more, burst, bounded := int64(0), int64(0), int64(0)
	for _, container := range in.Containers {
		result := s.step(container)
		out.Containers = append(out.Containers, result)
		burst = waterfall.Add(burst, result.BurstMicros)
		if result.Operation != Leave {
			more = waterfall.Add(more, result.Quota-result.Base)
			bounded = waterfall.Add(bounded, result.Quota)
		}
	}
	if base := s.base(in.Limit); in.Limit > 0 {
		// The quotas of containers are rounded up one by one, so that their sum may exceed that of the pod by as much.
		out.Quota, out.BurstMicros = max(waterfall.Add(base, more), bounded), burst
		if in.BurstWithinQuota {
			out.BurstMicros = within(burst, base, in.CurrentQuota)
		}
	}
	out.order()
	return out
}

// order lists the quotas that change: a pod grows before its containers and shrinks after them, and containers that shrink
// make room for those that grow.
func (r *PodResult) order() {
	pod := Write{Quota: r.Quota}
	changes := r.Quota > 0 && r.Current > 0 && r.Quota != r.Current
	if changes && r.Quota > r.Current {
		r.Writes = append(r.Writes, pod)
	}
	for _, grows := range []bool{false, true} {
		for _, c := range r.Containers {
			if c.Quota != c.Current && (c.Quota > c.Current) == grows {
				r.Writes = append(r.Writes, Write{Container: c.Name, ID: c.ID, Quota: c.Quota})
			}
		}
	}
	if changes && r.Quota < r.Current {
		r.Writes = append(r.Writes, pod)
	}
}
