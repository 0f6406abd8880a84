package quota

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"koordinator.sh/koord/decision/scheduling/pluginargs"
)

// Kind of the plugin arguments, in group and version kubescheduler.config.k8s.io/v1.
const Kind = "ElasticQuotaArgs"

// PluginName is the scheduler plugin that applies the decision.
const PluginName = "ElasticQuota"

// Args configures elastic quotas. The JSON is that of Koordinator's ElasticQuotaArgs, with GuaranteeUsage added. A nil
// pointer or an empty value stands for the default that SetDefaults fills in.
type Args struct {
	metav1.TypeMeta `json:",inline"`

	// DelayEvictTime is how long a quota may use more than its runtime before pods are evicted; default 120s, not negative.
	DelayEvictTime *metav1.Duration `json:"delayEvictTime,omitempty"`
	// RevokePodInterval is the time between two checks for that; default 1s, more than 0.
	RevokePodInterval *metav1.Duration `json:"revokePodInterval,omitempty"`
	// DefaultQuotaGroupMax bounds pods without a quota; default a fifth of the largest integer, of cpu and memory.
	DefaultQuotaGroupMax corev1.ResourceList `json:"defaultQuotaGroupMax,omitempty"`
	// SystemQuotaGroupMax bounds pods of the system quota; default as above.
	SystemQuotaGroupMax corev1.ResourceList `json:"systemQuotaGroupMax,omitempty"`
	// QuotaGroupNamespace holds the objects of the root, default and system quotas; default koordinator-system.
	QuotaGroupNamespace string `json:"quotaGroupNamespace,omitempty"`
	// MonitorAllQuotas evicts pods of quotas that use more than their runtime for too long; default false.
	MonitorAllQuotas *bool `json:"monitorAllQuotas,omitempty"`
	// EnableCheckParentQuota admits a pod only if it also fits into every quota above its own; default false.
	EnableCheckParentQuota *bool `json:"enableCheckParentQuota,omitempty"`
	// EnableRuntimeQuota compares usage with the runtime; false compares it with max. Default true.
	EnableRuntimeQuota *bool `json:"enableRuntimeQuota,omitempty"`
	// EnableMinQuotaScale scales mins down where they add up to more than there is; default true.
	EnableMinQuotaScale *bool `json:"enableMinQuotaScale,omitempty"`
	// DisableDefaultQuotaPreemption keeps pods of the default quota from preempting each other; default true.
	DisableDefaultQuotaPreemption *bool `json:"disableDefaultQuotaPreemption,omitempty"`
	// EnableQueueHint is accepted and has no effect: pods are always woken by precise hints. Default false.
	EnableQueueHint *bool `json:"enableQueueHint,omitempty"`
	// QuotaSnapshotUpdateInterval is the longest time until the status of a quota is written; default 120s, more than 0.
	QuotaSnapshotUpdateInterval *metav1.Duration `json:"quotaSnapshotUpdateInterval,omitempty"`
	// HookPlugins must be empty: there are no hook plugins to choose from.
	HookPlugins []HookPlugin `json:"hookPlugins,omitempty"`
	// GuaranteeUsage guarantees a quota what it uses, where that is more than min; default false. It stands for upstream's
	// feature gate ElasticQuotaGuaranteeUsage.
	GuaranteeUsage bool `json:"guaranteeUsage,omitempty"`
}

// HookPlugin names a hook plugin.
type HookPlugin struct {
	Key         string `json:"key"`
	FactoryKey  string `json:"factoryKey"`
	FactoryArgs string `json:"factoryArgs,omitempty"`
}

// DecodeArgs reads, completes and validates plugin arguments. An error about fields names every wrong one.
func DecodeArgs(object runtime.Object) (*Args, error) {
	return pluginargs.Read(object, Kind, SetDefaults, Validate)
}

// SetDefaults fills in what the configuration leaves open.
func SetDefaults(args *Args) {
	defaultDuration(&args.DelayEvictTime, 120*time.Second)
	defaultDuration(&args.RevokePodInterval, time.Second)
	defaultDuration(&args.QuotaSnapshotUpdateInterval, 120*time.Second)
	defaultMax(&args.DefaultQuotaGroupMax)
	defaultMax(&args.SystemQuotaGroupMax)
	if args.QuotaGroupNamespace == "" {
		args.QuotaGroupNamespace = "koordinator-system"
	}
	for option, value := range map[**bool]bool{
		&args.MonitorAllQuotas: false, &args.EnableCheckParentQuota: false, &args.EnableRuntimeQuota: true,
		&args.EnableMinQuotaScale: true, &args.DisableDefaultQuotaPreemption: true, &args.EnableQueueHint: false,
	} {
		if *option == nil {
			*option = new(value)
		}
	}
}

func defaultDuration(value **metav1.Duration, fallback time.Duration) {
	if *value == nil {
		*value = &metav1.Duration{Duration: fallback}
	}
}

func defaultMax(list *corev1.ResourceList) {
	if len(*list) == 0 {
		*list = corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewQuantity(math.MaxInt64/5, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(math.MaxInt64/5, resource.BinarySI),
		}
	}
}

// Validate reports every value of args that is out of its range, with the path of its field. Defaults must be set.
func Validate(args *Args) field.ErrorList {
	var errs field.ErrorList
	if args.DelayEvictTime.Duration < 0 {
		errs = append(errs, field.Invalid(field.NewPath("delayEvictTime"), args.DelayEvictTime.Duration.String(), "must not be negative"))
	}
	errs = append(errs, validatePositive("revokePodInterval", args.RevokePodInterval)...)
	errs = append(errs, validatePositive("quotaSnapshotUpdateInterval", args.QuotaSnapshotUpdateInterval)...)
	errs = append(errs, validateMax("defaultQuotaGroupMax", args.DefaultQuotaGroupMax)...)
	errs = append(errs, validateMax("systemQuotaGroupMax", args.SystemQuotaGroupMax)...)
	for i, hook := range args.HookPlugins {
		errs = append(errs, field.NotSupported(field.NewPath("hookPlugins").Index(i).Child("factoryKey"), hook.FactoryKey, []string{}))
	}
	return errs
}

func validatePositive(name string, value *metav1.Duration) field.ErrorList {
	if value.Duration > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(name), value.Duration.String(), "must be more than 0")}
}

func validateMax(name string, list corev1.ResourceList) field.ErrorList {
	var errs field.ErrorList
	for _, amount := range AmountsOf(list) {
		if quantity := list[amount.Resource]; quantity.Sign() < 0 {
			errs = append(errs, field.Invalid(field.NewPath(name).Key(string(amount.Resource)), quantity.String(), "must not be negative"))
		}
	}
	return errs
}

// Options of the computation that the arguments ask for.
func (a *Args) Options() Options {
	return Options{
		ScaleMin: *a.EnableMinQuotaScale, GuaranteeUsage: a.GuaranteeUsage,
		DefaultMax: AmountsOf(a.DefaultQuotaGroupMax), SystemMax: AmountsOf(a.SystemQuotaGroupMax),
	}
}

// Rules of admission that the arguments ask for.
func (a *Args) Rules() Rules {
	return Rules{Runtime: *a.EnableRuntimeQuota, Parents: *a.EnableCheckParentQuota}
}
