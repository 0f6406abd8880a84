package gang

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/pluginargs"
)

const (
	// PluginName of the scheduler plugin.
	PluginName = "Coscheduling"
	// Kind of its arguments, in group and version kubescheduler.config.k8s.io/v1.
	Kind = "CoschedulingArgs"
	// DefaultWaitTime is defaultTimeout when it is not given.
	DefaultWaitTime = 10 * time.Minute
)

// Args configures Coscheduling. The JSON is that of Koordinator's CoschedulingArgs. A nil pointer or an empty value stands
// for the default that SetDefaults fills in.
type Args struct {
	metav1.TypeMeta `json:",inline"`

	// DefaultTimeout is how long members wait for each other where their gang does not say; default 600s, more than 0.
	DefaultTimeout *metav1.Duration `json:"defaultTimeout,omitempty"`
	// ControllerWorkers is the number of PodGroups whose status is written at the same time; default 1, 1 to 100.
	ControllerWorkers *int64 `json:"controllerWorkers,omitempty"`
	// SkipCheckScheduleCycle tries every member of a Strict gang, also when another one was refused a moment ago and the gang
	// cannot do without it; default false.
	SkipCheckScheduleCycle bool `json:"skipCheckScheduleCycle,omitempty"`
	// EnablePreemption lets a gang preempt as a whole, and only as a whole; default false.
	EnablePreemption *bool `json:"enablePreemption,omitempty"`
	// AwareNetworkTopology places gangs that ask for it close together in the network; default false.
	AwareNetworkTopology *bool `json:"awareNetworkTopology,omitempty"`
	// DefaultMatchPolicy of gangs that do not say; default once-satisfied.
	DefaultMatchPolicy extension.GangMatchPolicy `json:"defaultMatchPolicy,omitempty"`
}

// DecodeArgs reads the arguments as the scheduler hands them over, fills in defaults and validates.
func DecodeArgs(object runtime.Object) (*Args, error) {
	return pluginargs.Read(object, Kind, SetDefaults, Validate)
}

// SetDefaults fills in what is not given.
func SetDefaults(args *Args) {
	if args.DefaultTimeout == nil {
		args.DefaultTimeout = &metav1.Duration{Duration: DefaultWaitTime}
	}
	if args.ControllerWorkers == nil {
		args.ControllerWorkers = new(int64(1))
	}
	if args.EnablePreemption == nil {
		args.EnablePreemption = new(false)
	}
	if args.AwareNetworkTopology == nil {
		args.AwareNetworkTopology = new(false)
	}
	if args.DefaultMatchPolicy == "" {
		args.DefaultMatchPolicy = extension.GangMatchPolicyOnceSatisfied
	}
}

// Validate reports every value that is out of its range.
func Validate(args *Args) field.ErrorList {
	var errs field.ErrorList
	if args.DefaultTimeout.Duration <= 0 {
		errs = append(errs, field.Invalid(field.NewPath("defaultTimeout"), args.DefaultTimeout.Duration.String(), "must be more than 0"))
	}
	if *args.ControllerWorkers < 1 || *args.ControllerWorkers > 100 {
		errs = append(errs, field.Invalid(field.NewPath("controllerWorkers"), *args.ControllerWorkers, "must be between 1 and 100"))
	}
	if !knownPolicy(args.DefaultMatchPolicy) {
		errs = append(errs, field.NotSupported(field.NewPath("defaultMatchPolicy"), args.DefaultMatchPolicy, []extension.GangMatchPolicy{
			extension.GangMatchPolicyOnceSatisfied, extension.GangMatchPolicyWaitingAndRunning, extension.GangMatchPolicyOnlyWaiting,
		}))
	}
	return errs
}

// Defaults for gangs that do not say.
func (a *Args) Defaults() Defaults {
	return Defaults{WaitTime: a.DefaultTimeout.Duration, MatchPolicy: a.DefaultMatchPolicy}
}
