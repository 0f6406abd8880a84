package arbitrator

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/decision/descheduling/arbitration"
	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// SettingsOf are the settings of the arguments of MigrationController, which have their defaults. Priority looks up the value of a
// PriorityClass by its name. All that is wrong is reported at once.
func SettingsOf(args *migration.Args, priority func(class string) (int32, error)) (Settings, error) {
	out := Settings{DryRun: args.DryRun, DefaultMode: args.DefaultJobMode, Limits: limitsOf(args), Args: args}
	if args.ArbitrationArgs != nil && args.ArbitrationArgs.Interval != nil {
		out.Interval = args.ArbitrationArgs.Interval.Duration
	}
	policy, err := PolicyOf(args, priority)
	out.Policy = policy
	for _, name := range args.SkipEvictionGates {
		out.Limits.SkippedGates = append(out.Limits.SkippedGates, arbitration.Gate(name))
	}
	return out, err
}

// Memory is for how long the limits of the arguments of MigrationController look back at jobs that ended.
func Memory(args *migration.Args) time.Duration {
	limits := limitsOf(args)
	return limits.Memory()
}

// PolicyOf is which pods the arguments of MigrationController allow to evict.
func PolicyOf(args *migration.Args, priority func(class string) (int32, error)) (evictability.Policy, error) {
	out := evictability.Policy{
		EvictFailedBarePods: args.EvictFailedBarePods, EvictAllBarePods: args.EvictAllBarePods, EvictLocalStoragePods: args.EvictLocalStoragePods,
		EvictSystemCriticalPods: args.EvictSystemCriticalPods, IgnorePVCPods: args.IgnorePVCPods, NodeFit: args.NodeFit,
	}
	var errs []error
	if args.LabelSelector != nil {
		selector, err := metav1.LabelSelectorAsSelector(args.LabelSelector)
		if err != nil {
			errs = append(errs, fmt.Errorf("read labelSelector: %w", err))
		}
		out.LabelSelector = selector
	}
	if args.NodeSelector != "" {
		selector, err := labels.Parse(args.NodeSelector)
		if err != nil {
			errs = append(errs, fmt.Errorf("read nodeSelector: %w", err))
		}
		out.NodeSelector = selector
	}
	if args.Namespaces != nil {
		out.IncludedNamespaces, out.ExcludedNamespaces = args.Namespaces.Include, args.Namespaces.Exclude
	}
	if threshold := args.PriorityThreshold; threshold != nil {
		out.PriorityThreshold = threshold.Value
		if threshold.Value == nil && threshold.Name != "" {
			value, err := priority(threshold.Name)
			if err != nil {
				errs = append(errs, fmt.Errorf("read priorityThreshold: %w", err))
			}
			out.PriorityThreshold = &value
		}
	}
	for _, name := range args.SkipEvictionGates {
		out.SkippedGates = append(out.SkippedGates, evictability.Gate(name))
	}
	return out, errors.Join(errs...)
}

func limitsOf(args *migration.Args) arbitration.Limits {
	return arbitration.Limits{
		MaxMigratingGlobally: args.MaxMigratingGlobally, MaxMigratingPerNode: args.MaxMigratingPerNode, MaxMigratingPerNamespace: args.MaxMigratingPerNamespace,
		MaxMigratingPerWorkload: args.MaxMigratingPerWorkload, MaxUnavailablePerWorkload: args.MaxUnavailablePerWorkload,
		SkipCheckExpectedReplicas: args.SkipCheckExpectedReplicas != nil && *args.SkipCheckExpectedReplicas,
		ObjectLimiters:            arbitration.ObjectLimiters{Workload: limiterOf(args, migration.LimitedWorkload), Namespace: limiterOf(args, migration.LimitedNamespace)},
	}
}

func limiterOf(args *migration.Args, object migration.LimitedObject) *arbitration.ObjectLimiter {
	limiter, found := args.ObjectLimiters[object]
	if !found {
		return nil
	}
	return &arbitration.ObjectLimiter{Duration: limiter.Duration.Duration, MaxMigrating: limiter.MaxMigrating, Burst: int(limiter.Burst)}
}
