package arbitration

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Limits bound migrations. Their fields are those of upstream's MigrationControllerArgs. Counts that are nil or below 1 are no limit.
type Limits struct {
	MaxMigratingGlobally     *int32
	MaxMigratingPerNode      *int32
	MaxMigratingPerNamespace *int32
	// MaxMigratingPerWorkload and MaxUnavailablePerWorkload are counts or percentages of the replicas; nil is the default for the
	// number of replicas.
	MaxMigratingPerWorkload   *intstr.IntOrString
	MaxUnavailablePerWorkload *intstr.IntOrString
	ObjectLimiters            ObjectLimiters
	// SkipCheckExpectedReplicas allows workloads of which nothing would be left running.
	SkipCheckExpectedReplicas bool
	// SkippedGates are not asked.
	SkippedGates []Gate
}

// ObjectLimiters bound evictions over time; nil is no limit.
type ObjectLimiters struct {
	Workload, Namespace *ObjectLimiter
}

// ObjectLimiter allows MaxMigrating evictions within Duration, and at most Burst of them at once.
type ObjectLimiter struct {
	// Duration of 0 and below is no limit.
	Duration time.Duration
	// MaxMigrating is a count, or a percentage of the replicas of a workload or of the pods of a namespace. Nil is
	// MaxMigratingPerWorkload or MaxMigratingPerNamespace.
	MaxMigrating *intstr.IntOrString
	// Burst is 1 by default.
	Burst int
}

// Gate is a reason for which a job does not start.
type Gate string

// The gates, in the order in which they are asked. Those of package evictability come after MissingPod, under their own names.
const (
	Paused                    Gate = "Paused"
	Expired                   Gate = "Expired"
	Held                      Gate = "Held"
	InvalidPodRef             Gate = "InvalidPodRef"
	MissingPod                Gate = "MissingPod"
	ExistingJob               Gate = "ExistingJob"
	UnknownWorkload           Gate = "UnknownWorkload"
	ExpectedReplicas          Gate = "ExpectedReplicas"
	PendingReplacement        Gate = "PendingReplacement"
	MaxMigratingGlobally      Gate = "MaxMigratingGlobally"
	MaxMigratingPerNamespace  Gate = "MaxMigratingPerNamespace"
	MaxMigratingPerNode       Gate = "MaxMigratingPerNode"
	MaxMigratingPerWorkload   Gate = "MaxMigratingPerWorkload"
	MaxUnavailablePerWorkload Gate = "MaxUnavailablePerWorkload"
	ObjectLimiterWorkload     Gate = "ObjectLimiterWorkload"
	ObjectLimiterNamespace    Gate = "ObjectLimiterNamespace"
)

// skippable are the gates that skipEvictionGates may name. Object limiters are switched off by their duration.
var skippable = []Gate{
	ExpectedReplicas, MaxMigratingGlobally, MaxMigratingPerNamespace, MaxMigratingPerNode, MaxMigratingPerWorkload, MaxUnavailablePerWorkload,
}

// Skippable are the gates of this package that skipEvictionGates may name.
func Skippable() []Gate { return slices.Clone(skippable) }

func (l *Limits) skips(gate Gate) bool {
	return slices.Contains(skippable, gate) && slices.Contains(l.SkippedGates, gate)
}

// Memory is for how long a finished job must be kept: object limiters count evictions by the jobs that made them.
func (l *Limits) Memory() time.Duration {
	var longest time.Duration
	for _, limiter := range []*ObjectLimiter{l.ObjectLimiters.Workload, l.ObjectLimiters.Namespace} {
		if limiter != nil {
			longest = max(longest, limiter.Duration)
		}
	}
	return longest
}
