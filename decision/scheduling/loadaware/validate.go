package loadaware

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var aggregationTypes = []string{"avg", "p50", "p90", "p95", "p99"}

// Validate reports every value of args that is out of its range, with the path of its field. Defaults must be set.
func Validate(args *Args) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, validateSeconds(field.NewPath("nodeMetricExpirationSeconds"), args.NodeMetricExpirationSeconds, 1)...)
	errs = append(errs, validateSeconds(field.NewPath("estimatedSecondsAfterPodScheduled"), args.EstimatedSecondsAfterPodScheduled, 0)...)
	errs = append(errs, validateSeconds(field.NewPath("estimatedSecondsAfterInitialized"), args.EstimatedSecondsAfterInitialized, 0)...)
	if args.DominantResourceWeight < 0 || args.DominantResourceWeight > 100 {
		errs = append(errs, field.Invalid(field.NewPath("dominantResourceWeight"), args.DominantResourceWeight, "must be between 0 and 100"))
	}
	if args.Estimator != DefaultEstimator {
		errs = append(errs, field.NotSupported(field.NewPath("estimator"), args.Estimator, []string{DefaultEstimator}))
	}
	errs = append(errs, validateRange(field.NewPath("resourceWeights"), args.ResourceWeights, 1)...)
	errs = append(errs, validateRange(field.NewPath("usageThresholds"), args.UsageThresholds, 0)...)
	errs = append(errs, validateRange(field.NewPath("prodUsageThresholds"), args.ProdUsageThresholds, 0)...)
	errs = append(errs, validateRange(field.NewPath("estimatedScalingFactors"), args.EstimatedScalingFactors, 1)...)
	errs = append(errs, validateFactorsExist(args)...)
	errs = append(errs, validateSupported(field.NewPath("supportedResources"), args.SupportedResources)...)
	if args.Aggregated != nil {
		errs = append(errs, validateAggregated(field.NewPath("aggregated"), args.Aggregated)...)
	}
	return errs
}

func validateSeconds(path *field.Path, value *int64, minimum int64) field.ErrorList {
	if value == nil || *value >= minimum && *value <= MaxSeconds {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("must be between %d and %d", minimum, MaxSeconds))}
}

func validateSupported(path *field.Path, names []corev1.ResourceName) field.ErrorList {
	var errs field.ErrorList
	for i, name := range names {
		if name == "" {
			errs = append(errs, field.Invalid(path.Index(i), "", "must not be an empty resource name"))
		}
	}
	return errs
}

func validateRange(path *field.Path, values map[corev1.ResourceName]int64, minimum int64) field.ErrorList {
	var errs field.ErrorList
	for _, name := range sortedNames(values) {
		if name == "" {
			errs = append(errs, field.Invalid(path, "", "must not have an empty resource name"))
		}
		if value := values[name]; value < minimum || value > 100 {
			errs = append(errs, field.Invalid(path.Key(string(name)), value, fmt.Sprintf("must be between %d and 100", minimum)))
		}
	}
	return errs
}

func validateFactorsExist(args *Args) field.ErrorList {
	var errs field.ErrorList
	for _, name := range sortedNames(args.ResourceWeights) {
		if _, found := args.EstimatedScalingFactors[name]; !found {
			errs = append(errs, field.Required(field.NewPath("estimatedScalingFactors").Key(string(name)), "every weighted resource needs a factor"))
		}
	}
	return errs
}

func validateAggregated(path *field.Path, aggregated *AggregatedArgs) field.ErrorList {
	errs := validateRange(path.Child("usageThresholds"), aggregated.UsageThresholds, 0)
	errs = append(errs, validateAggregationType(path.Child("usageAggregationType"), aggregated.UsageAggregationType)...)
	errs = append(errs, validateAggregationType(path.Child("scoreAggregationType"), aggregated.ScoreAggregationType)...)
	if len(aggregated.UsageThresholds) > 0 && aggregated.UsageAggregationType == "" {
		errs = append(errs, field.Required(path.Child("usageAggregationType"), "usageThresholds need it"))
	}
	if aggregated.UsageAggregatedDuration.Duration < 0 {
		errs = append(errs, field.Invalid(path.Child("usageAggregatedDuration"), aggregated.UsageAggregatedDuration.Duration.String(), "must not be negative"))
	}
	if aggregated.ScoreAggregatedDuration.Duration < 0 {
		errs = append(errs, field.Invalid(path.Child("scoreAggregatedDuration"), aggregated.ScoreAggregatedDuration.Duration.String(), "must not be negative"))
	}
	return errs
}

func validateAggregationType(path *field.Path, value string) field.ErrorList {
	if value == "" || slices.Contains(aggregationTypes, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, aggregationTypes)}
}

func sortedNames(values map[corev1.ResourceName]int64) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
