package histogram

import "math"

// The buckets of usage: CPU in cores from 25 milli-cores to 1024 cores, memory in bytes from 5 MiB to 2 TiB, each bucket 5 %
// wider than the one before.
var (
	cpuBuckets    = NewExponential(1024, 0.025, 1.05)
	memoryBuckets = NewExponential(1<<41, 5<<20, 1.05)
)

// CPU returns the buckets of CPU usage in cores. They may be used concurrently.
func CPU() *Exponential { return cpuBuckets }

// Memory returns the buckets of memory usage in bytes. They may be used concurrently.
func Memory() *Exponential { return memoryBuckets }

// Buckets divides the amounts from zero on into ranges; the last one has no end.
type Buckets interface {
	// Count returns the number of buckets.
	Count() int
	// Find returns the bucket of a value: the first for values below its end, the last for those beyond the maximum.
	Find(value float64) int
	// Start returns the lower end of a bucket.
	Start(bucket int) float64
}

// Exponential buckets grow: the first is as wide as First, each next one Growth times as wide. Growth is above 1.
type Exponential struct {
	first, growth, logGrowth float64
	count                    int
}

// NewExponential returns buckets that reach up to a maximum.
func NewExponential(maximum, first, growth float64) *Exponential {
	logGrowth := math.Log(growth)
	return &Exponential{
		first: first, growth: growth, logGrowth: logGrowth,
		count: int(math.Ceil(math.Log(maximum*(growth-1)/first+1)/logGrowth)) + 1,
	}
}

// Count returns the number of buckets.
func (e *Exponential) Count() int { return e.count }

// Find returns the bucket of a value.
func (e *Exponential) Find(value float64) int {
	if value < e.first {
		return 0
	}
	return clamp(math.Log(value*(e.growth-1)/e.first+1)/e.logGrowth, e.count)
}

// Start returns the lower end of a bucket.
func (e *Exponential) Start(bucket int) float64 {
	if bucket == 0 {
		return 0
	}
	return e.first * (math.Pow(e.growth, float64(bucket)) - 1) / (e.growth - 1)
}

// clamp rounds a position down to a bucket. The comparisons are such that NaN becomes the first.
func clamp(position float64, count int) int {
	switch {
	case position >= float64(count-1):
		return count - 1
	case position > 0:
		return int(position)
	}
	return 0
}
