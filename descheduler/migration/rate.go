package migration

import (
	"sync"
	"time"

	"k8s.io/client-go/util/flowcontrol"

	"koordinator.sh/koord/decision/descheduling/migration"
)

// evictionRate limits evictions to evictQPS and evictBurst, which may change. It is safe for concurrent use.
type evictionRate struct {
	mutex   sync.Mutex
	qps     float32
	burst   int
	limiter flowcontrol.RateLimiter
}

// take takes one eviction, or returns how long to wait at least before the next try. A rate that changed begins with a full burst.
func (e *evictionRate) take(args *migration.Args) time.Duration {
	qps, burst := float32(args.EvictQPS.AsApproximateFloat64()), int(args.EvictBurst)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.limiter == nil || e.qps != qps || e.burst != burst {
		e.qps, e.burst, e.limiter = qps, burst, flowcontrol.NewTokenBucketRateLimiter(qps, burst)
	}
	if e.limiter.TryAccept() {
		return 0
	}
	return time.Duration(float64(time.Second) / float64(qps))
}
