package migration

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// EvictionGates are the names that skipEvictionGates knows.
var EvictionGates = []string{
	"BarePods", "ExpectedReplicas", "LabelSelector", "LocalStorage", "MaxMigratingGlobally", "MaxMigratingPerNamespace", "MaxMigratingPerNode",
	"MaxMigratingPerWorkload", "MaxUnavailablePerWorkload", "Namespaces", "NodeFit", "PVC", "PriorityThreshold", "SystemCritical",
}

// Modes of a job.
var modes = []schedulingv1alpha1.PodMigrationJobMode{
	schedulingv1alpha1.PodMigrationJobModeReservationFirst, schedulingv1alpha1.PodMigrationJobModeEvictionDirectly,
}

// policies of eviction.
var policies = []EvictionPolicy{Eviction, Delete, SoftEviction, Surge, RequestEviction}

// Validate reports every value that is wrong. Defaults must be set.
func Validate(args *Args) field.ErrorList {
	errs := slices.Concat(
		validateSelection(args), validateLimits(args), validateLimiters(args), atLeastOne(field.NewPath("maxConcurrentReconciles"), &args.MaxConcurrentReconciles),
		atLeastOne(field.NewPath("evictBurst"), &args.EvictBurst), oneOf(field.NewPath("defaultJobMode"), args.DefaultJobMode, modes),
		oneOf(field.NewPath("evictionPolicy"), args.EvictionPolicy, policies), positive(field.NewPath("defaultJobTTL"), args.DefaultJobTTL),
	)
	if args.ArbitrationArgs != nil {
		errs = append(errs, positive(field.NewPath("arbitrationArgs", "interval"), args.ArbitrationArgs.Interval)...)
	}
	if args.EvictQPS != nil && args.EvictQPS.Sign() <= 0 {
		errs = append(errs, field.Invalid(field.NewPath("evictQPS"), args.EvictQPS.String(), "must be greater than 0"))
	}
	if options := args.DefaultDeleteOptions; options != nil {
		at := field.NewPath("defaultDeleteOptions")
		for _, err := range metav1validation.ValidateDeleteOptions(options) {
			err.Field = strings.TrimSuffix(at.String()+"."+err.Field, ".")
			errs = append(errs, err)
		}
		if options.GracePeriodSeconds != nil && *options.GracePeriodSeconds < 0 {
			errs = append(errs, field.Invalid(at.Child("gracePeriodSeconds"), *options.GracePeriodSeconds, "must not be negative"))
		}
		if options.Preconditions != nil {
			errs = append(errs, field.Forbidden(at.Child("preconditions"), "the pod of the job is the precondition"))
		}
	}
	for i, name := range args.SchedulerNames {
		if name == "" {
			errs = append(errs, field.Required(field.NewPath("schedulerNames").Index(i), "must name a scheduler"))
		}
	}
	return errs
}

// validateSelection checks which pods may be migrated.
func validateSelection(args *Args) (errs field.ErrorList) {
	if args.LabelSelector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(args.LabelSelector, metav1validation.LabelSelectorValidationOptions{}, field.NewPath("labelSelector"))...)
	}
	if _, err := labels.Parse(args.NodeSelector); err != nil {
		errs = append(errs, field.Invalid(field.NewPath("nodeSelector"), args.NodeSelector, err.Error()))
	}
	if namespaces := args.Namespaces; namespaces != nil {
		at := field.NewPath("namespaces")
		if len(namespaces.Include) > 0 && len(namespaces.Exclude) > 0 {
			errs = append(errs, field.Forbidden(at.Child("exclude"), "must not be set together with include"))
		}
		errs = append(errs, validateNamespaces(at.Child("include"), namespaces.Include)...)
		errs = append(errs, validateNamespaces(at.Child("exclude"), namespaces.Exclude)...)
	}
	if threshold := args.PriorityThreshold; threshold != nil && threshold.Value != nil && threshold.Name != "" {
		errs = append(errs, field.Forbidden(field.NewPath("priorityThreshold", "name"), "must not be set together with value"))
	}
	for i, gate := range args.SkipEvictionGates {
		if !slices.Contains(EvictionGates, gate) {
			errs = append(errs, field.NotSupported(field.NewPath("skipEvictionGates").Index(i), gate, EvictionGates))
		}
	}
	return errs
}

func validateNamespaces(at *field.Path, names []string) (errs field.ErrorList) {
	for i, name := range names {
		for _, problem := range validation.IsDNS1123Label(name) {
			errs = append(errs, field.Invalid(at.Index(i), name, problem))
		}
	}
	return errs
}

// validateLimits checks how many pods may be migrated at a time.
func validateLimits(args *Args) field.ErrorList {
	return slices.Concat(
		atLeastOne(field.NewPath("maxMigratingGlobally"), args.MaxMigratingGlobally),
		atLeastOne(field.NewPath("maxMigratingPerNamespace"), args.MaxMigratingPerNamespace),
		atLeastOne(field.NewPath("maxMigratingPerNode"), args.MaxMigratingPerNode),
		validateShare(field.NewPath("maxMigratingPerWorkload"), args.MaxMigratingPerWorkload),
		validateShare(field.NewPath("maxUnavailablePerWorkload"), args.MaxUnavailablePerWorkload),
	)
}

func validateLimiters(args *Args) (errs field.ErrorList) {
	for _, object := range slices.Sorted(maps.Keys(args.ObjectLimiters)) {
		limiter, at := args.ObjectLimiters[object], field.NewPath("objectLimiters").Key(string(object))
		errs = append(errs, oneOf(at, object, []LimitedObject{LimitedNamespace, LimitedWorkload})...)
		if limiter.Duration.Duration < 0 {
			errs = append(errs, field.Invalid(at.Child("duration"), limiter.Duration.Duration.String(), "must not be negative"))
		}
		errs = append(errs, atLeastOne(at.Child("burst"), &limiter.Burst)...)
		errs = append(errs, validateShare(at.Child("maxMigrating"), limiter.MaxMigrating)...)
	}
	return errs
}

// validateShare checks a number or a percentage of replicas.
func validateShare(at *field.Path, share *intstr.IntOrString) field.ErrorList {
	if share == nil {
		return nil
	}
	if share.Type == intstr.Int {
		return atLeastOne(at, &share.IntVal)
	}
	digits, isPercentage := strings.CutSuffix(share.StrVal, "%")
	percent, err := strconv.Atoi(digits)
	if !isPercentage || err != nil || percent < 1 || percent > 100 || strconv.Itoa(percent) != digits {
		return field.ErrorList{field.Invalid(at, share.StrVal, "must be a number of at least 1, or a percentage from 1% to 100%")}
	}
	return nil
}

func atLeastOne(at *field.Path, value *int32) field.ErrorList {
	if value == nil || *value >= 1 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *value, "must be at least 1")}
}

func positive(at *field.Path, value *metav1.Duration) field.ErrorList {
	if value == nil || value.Duration > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, value.Duration.String(), "must be greater than 0")}
}

func oneOf[T ~string](at *field.Path, value T, known []T) field.ErrorList {
	if slices.Contains(known, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, known)}
}
