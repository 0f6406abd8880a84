package lownodeload

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of Args.
const (
	maxSeconds = math.MaxInt64 / int64(time.Second)
	maxWeight  = 1000
	// maxConsecutive passes of one kind that a condition may ask for.
	maxConsecutive = 1000
)

// Validate reports every value of args that is out of its range, with the path of its field. Defaults must be set.
func Validate(args *Args) field.ErrorList {
	var errs field.ErrorList
	if *args.NumberOfNodes < 0 {
		errs = append(errs, field.Invalid(field.NewPath("numberOfNodes"), *args.NumberOfNodes, "must not be negative"))
	}
	if seconds := *args.NodeMetricExpirationSeconds; seconds < 1 || seconds > maxSeconds {
		errs = append(errs, field.Invalid(field.NewPath("nodeMetricExpirationSeconds"), seconds, fmt.Sprintf("must be between 1 and %d", maxSeconds)))
	}
	if timeout := args.DetectorCacheTimeout.Duration; timeout <= 0 {
		errs = append(errs, field.Invalid(field.NewPath("detectorCacheTimeout"), timeout.String(), "must be positive"))
	}
	errs = append(errs, validateNamespaces(field.NewPath("evictableNamespaces"), args.EvictableNamespaces)...)
	errs = append(errs, validateSelector(field.NewPath("nodeSelector"), args.NodeSelector)...)
	for i := range args.PodSelectors {
		errs = append(errs, validateSelector(field.NewPath("podSelectors").Index(i).Child("selector"), args.PodSelectors[i].Selector)...)
	}
	errs = append(errs, validatePool(nil, &args.PoolSettings)...)
	return append(errs, validatePools(field.NewPath("nodePools"), args.NodePools)...)
}

func validatePools(path *field.Path, pools []NodePool) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{DefaultPool: true}
	for i := range pools {
		pool, at := &pools[i], path.Index(i)
		if names[pool.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), pool.Name))
		}
		names[pool.Name] = true
		errs = append(errs, validateSelector(at.Child("nodeSelector"), pool.NodeSelector)...)
		errs = append(errs, validatePool(at, &pool.PoolSettings)...)
	}
	return errs
}

func validatePool(path *field.Path, settings *PoolSettings) field.ErrorList {
	deviation := *settings.UseDeviationThresholds
	errs := validateThresholds(path, "lowThresholds", settings.LowThresholds, "highThresholds", settings.HighThresholds, deviation)
	errs = append(errs, validateThresholds(path, "prodLowThresholds", settings.ProdLowThresholds, "prodHighThresholds", settings.ProdHighThresholds, deviation)...)
	for _, name := range slices.Sorted(maps.Keys(settings.ResourceWeights)) {
		if weight := settings.ResourceWeights[name]; weight < 0 || weight > maxWeight {
			errs = append(errs, field.Invalid(child(path, "resourceWeights").Key(string(name)), weight, fmt.Sprintf("must be between 0 and %d", maxWeight)))
		}
	}
	return append(errs, validateCondition(child(path, "anomalyCondition"), settings.AnomalyCondition)...)
}

func validateThresholds(path *field.Path, lowName string, low Thresholds, highName string, high Thresholds, deviation bool) field.ErrorList {
	var errs field.ErrorList
	for _, side := range []struct {
		name   string
		values Thresholds
	}{{lowName, low}, {highName, high}} {
		for _, name := range slices.Sorted(maps.Keys(side.values)) {
			at := child(path, side.name).Key(string(name))
			if name == "" {
				errs = append(errs, field.Invalid(at, "", "must not be an empty resource name"))
			}
			if value := side.values[name]; !(value >= 0 && value <= 100) {
				errs = append(errs, field.Invalid(at, value, "must be between 0 and 100"))
			}
		}
	}
	if deviation {
		return errs
	}
	for _, name := range slices.Sorted(maps.Keys(low)) {
		if above, set := high[name]; set && low[name] > above {
			errs = append(errs, field.Invalid(child(path, lowName).Key(string(name)), low[name], fmt.Sprintf("must not be above %s, which is %v", highName, above)))
		}
	}
	return errs
}

func validateCondition(path *field.Path, condition *AnomalyCondition) field.ErrorList {
	var errs field.ErrorList
	if timeout := condition.Timeout.Duration; timeout <= 0 {
		errs = append(errs, field.Invalid(path.Child("timeout"), timeout.String(), "must be positive"))
	}
	if value := condition.ConsecutiveAbnormalities; value > maxConsecutive {
		errs = append(errs, field.Invalid(path.Child("consecutiveAbnormalities"), value, fmt.Sprintf("must be at most %d", maxConsecutive)))
	}
	if value := condition.ConsecutiveNormalities; value > maxConsecutive {
		errs = append(errs, field.Invalid(path.Child("consecutiveNormalities"), value, fmt.Sprintf("must be at most %d", maxConsecutive)))
	}
	return errs
}

func validateNamespaces(path *field.Path, namespaces *Namespaces) field.ErrorList {
	if namespaces == nil || len(namespaces.Include) == 0 || len(namespaces.Exclude) == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "only one of include and exclude can be set")}
}

func validateSelector(path *field.Path, selector *metav1.LabelSelector) field.ErrorList {
	if selector == nil {
		return nil
	}
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

// child is a field of a path that may be nil, for the root.
func child(path *field.Path, name string) *field.Path {
	if path == nil {
		return field.NewPath(name)
	}
	return path.Child(name)
}

// hasThresholds is true for a pool that can classify a node.
func (s *PoolSettings) hasThresholds() bool {
	for _, thresholds := range []Thresholds{s.LowThresholds, s.HighThresholds, s.ProdLowThresholds, s.ProdHighThresholds} {
		if len(thresholds) > 0 {
			return true
		}
	}
	return false
}

// resourceNames of all thresholds, sorted. Memory always belongs to them, as it does upstream.
func (s *PoolSettings) resourceNames() []corev1.ResourceName {
	names := map[corev1.ResourceName]bool{corev1.ResourceMemory: true}
	for _, thresholds := range []Thresholds{s.LowThresholds, s.HighThresholds, s.ProdLowThresholds, s.ProdHighThresholds} {
		for name := range thresholds {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
