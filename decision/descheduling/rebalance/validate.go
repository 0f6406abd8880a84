package rebalance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	hour = time.Hour
	week = 7 * 24 * hour
)

// Validate reports every value of args that is out of its range, with the path of its field. Defaults must be set.
func Validate(args *Args) field.ErrorList {
	var errs field.ErrorList
	if args.Mode != Planned && args.Mode != Upstream {
		errs = append(errs, field.NotSupported(field.NewPath("mode"), args.Mode, []Mode{Planned, Upstream}))
	}
	if reviews := []Review{ReviewRequired, ReviewPreferred, ReviewNever}; !slices.Contains(reviews, args.SchedulerReview) {
		errs = append(errs, field.NotSupported(field.NewPath("schedulerReview"), args.SchedulerReview, reviews))
	}
	if _, err := metav1.LabelSelectorAsSelector(args.NodeSelector); err != nil {
		errs = append(errs, field.Invalid(field.NewPath("nodeSelector"), args.NodeSelector, err.Error()))
	}
	errs = append(errs, percentages("highThresholds", args.HighThresholds)...)
	errs = append(errs, percentages("lowThresholds", args.LowThresholds)...)
	if args.Mode == Upstream {
		errs = append(errs, ordered(args)...)
	}
	errs = append(errs, percentages("resourceWeights", args.ResourceWeights)...)
	for _, name := range slices.Sorted(maps.Keys(args.ResourceWeights)) {
		if _, set := args.HighThresholds[name]; !set {
			errs = append(errs, field.Required(field.NewPath("highThresholds").Key(string(name)), "every weighted resource needs a threshold"))
		}
	}
	errs = append(errs, within("nodeMetricExpirationSeconds", *args.NodeMetricExpirationSeconds, 1, 86400)...)
	errs = append(errs, within("targetMarginPercent", *args.TargetMarginPercent, 0, 50)...)
	errs = append(errs, within("varianceWeight", *args.VarianceWeight, 0, 100)...)
	errs = append(errs, within("costWeight", *args.CostWeight, 0, 100)...)
	errs = append(errs, within("minImprovement", *args.MinImprovement, 0, 100)...)
	errs = append(errs, lasting("horizon", args.Horizon, time.Minute, 24*hour)...)
	errs = append(errs, lasting("coolDown", args.CoolDown, 0, week)...)
	errs = append(errs, lasting("historyWindow", args.HistoryWindow, max(args.CoolDown.Duration, 0), 720*hour)...)
	errs = append(errs, within("maxMovesPerReplica", *args.MaxMovesPerReplica, 1, 1000)...)
	errs = append(errs, within("maxMovesPerPass", *args.MaxMovesPerPass, 1, 10000)...)
	errs = append(errs, within("maxMovesPerNode", *args.MaxMovesPerNode, 1, 1000)...)
	errs = append(errs, within("maxMovesPerWorkload", *args.MaxMovesPerWorkload, 1, 1000)...)
	errs = append(errs, within("maxTargetsPerPod", *args.MaxTargetsPerPod, 1, 10000)...)
	return append(errs, room(args)...)
}

// ordered thresholds keep a node from being underutilized and overutilized at once.
func ordered(args *Args) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(args.LowThresholds)) {
		if high, set := args.HighThresholds[name]; set && args.LowThresholds[name] >= high {
			errs = append(errs, field.Invalid(field.NewPath("lowThresholds").Key(string(name)), args.LowThresholds[name], fmt.Sprintf("must be below highThresholds[%s], which is %d", name, high)))
		}
	}
	return errs
}

// room is left for targets below each threshold.
func room(args *Args) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(args.HighThresholds)) {
		if high := args.HighThresholds[name]; high >= 1 && *args.TargetMarginPercent >= high {
			errs = append(errs, field.Invalid(field.NewPath("targetMarginPercent"), *args.TargetMarginPercent, fmt.Sprintf("must be below highThresholds[%s], which is %d", name, high)))
		}
	}
	return errs
}

func percentages(name string, values map[corev1.ResourceName]int64) field.ErrorList {
	var errs field.ErrorList
	for _, resource := range slices.Sorted(maps.Keys(values)) {
		if resource == "" {
			errs = append(errs, field.Invalid(field.NewPath(name), "", "must not have an empty resource name"))
		}
		if value := values[resource]; value < 1 || value > 100 {
			errs = append(errs, field.Invalid(field.NewPath(name).Key(string(resource)), value, "must be between 1 and 100"))
		}
	}
	return errs
}

// within refuses what is not between the bounds, and what is not a number.
func within[T cmp.Ordered](name string, value, least, most T) field.ErrorList {
	if value >= least && value <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(name), value, fmt.Sprintf("must be between %v and %v", least, most))}
}

func lasting(name string, value *metav1.Duration, least, most time.Duration) field.ErrorList {
	if value.Duration >= least && value.Duration <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(name), value.Duration.String(), fmt.Sprintf("must be between %s and %s", least, most))}
}
