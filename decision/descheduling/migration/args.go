package migration

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const (
	// PluginName is the evictor plugin whose arguments these are.
	PluginName = "MigrationController"
	// Kind of the arguments, in group and version descheduler/v1alpha2.
	Kind = "MigrationControllerArgs"
)

// EvictionPolicy is the way a pod is evicted.
type EvictionPolicy string

const (
	// Eviction uses the eviction API, which respects PodDisruptionBudgets.
	Eviction EvictionPolicy = "Eviction"
	// Delete deletes the pod.
	Delete EvictionPolicy = "Delete"
	// SoftEviction annotates the pod, and leaves the eviction to the node agent or another component that reads it.
	SoftEviction EvictionPolicy = "SoftEviction"
	// Surge replaces the pod before it is evicted, where its Deployment allows one pod more than its replicas, and is Eviction elsewhere.
	Surge EvictionPolicy = "Surge"
	// RequestEviction leaves the eviction to the responders of the pod, by an EvictionRequest (KEP-4563), and is Eviction where none can be
	// used.
	RequestEviction EvictionPolicy = "EvictionRequest"
)

// LimitedObject is what an object limiter counts migrations of.
type LimitedObject string

const (
	// LimitedWorkload counts migrations per workload.
	LimitedWorkload LimitedObject = "workload"
	// LimitedNamespace counts migrations per namespace.
	LimitedNamespace LimitedObject = "namespace"
)

// Args configures the migration of pods. The JSON is that of Koordinator's MigrationControllerArgs. What is nil, empty or 0 stands for the
// default that SetDefaults fills in; limits that are nil do not apply.
type Args struct {
	metav1.TypeMeta `json:",inline"`

	// DryRun decides and evicts nothing; default false.
	DryRun bool `json:"dryRun,omitempty"`
	// MaxConcurrentReconciles is the number of jobs that are worked on at a time; default 1.
	MaxConcurrentReconciles int32 `json:"maxConcurrentReconciles,omitempty"`

	// EvictFailedBarePods allows failed pods without a controller to be evicted; default false.
	EvictFailedBarePods bool `json:"evictFailedBarePods,omitempty"`
	// EvictAllBarePods allows pods without a controller to be evicted; default false.
	EvictAllBarePods bool `json:"evictAllBarePods,omitempty"`
	// EvictLocalStoragePods allows pods with local storage to be evicted; default false.
	EvictLocalStoragePods bool `json:"evictLocalStoragePods,omitempty"`
	// EvictSystemCriticalPods allows pods of system priority to be evicted; default false.
	EvictSystemCriticalPods bool `json:"evictSystemCriticalPods,omitempty"`
	// IgnorePVCPods excludes pods with a PersistentVolumeClaim; default false.
	IgnorePVCPods bool `json:"ignorePvcPods,omitempty"`
	// LabelSelector selects the pods that may be migrated; default all.
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// Namespaces whose pods may be migrated; default all.
	Namespaces *Namespaces `json:"namespaces,omitempty"`
	// NodeFit requires another node on which the pod fits; default false.
	NodeFit bool `json:"nodeFit,omitempty"`
	// NodeSelector selects the nodes that NodeFit considers; default all.
	NodeSelector string `json:"nodeSelector,omitempty"`
	// PriorityThreshold excludes pods of this priority and above.
	PriorityThreshold *PriorityThreshold `json:"priorityThreshold,omitempty"`
	// SkipEvictionGates switches off limits and gates, by name.
	SkipEvictionGates []string `json:"skipEvictionGates,omitempty"`

	// MaxMigratingGlobally limits the jobs that run at a time; no limit by default.
	MaxMigratingGlobally *int32 `json:"maxMigratingGlobally,omitempty"`
	// MaxMigratingPerNamespace limits the jobs that run at a time for pods of a namespace; no limit by default.
	MaxMigratingPerNamespace *int32 `json:"maxMigratingPerNamespace,omitempty"`
	// MaxMigratingPerNode limits the jobs that run at a time for pods of a node; default 2.
	MaxMigratingPerNode *int32 `json:"maxMigratingPerNode,omitempty"`
	// MaxMigratingPerWorkload limits the jobs that run at a time for pods of a workload, as a number or a percentage of its replicas; by
	// default 10 % above 10 replicas, 2 from 4, else 1.
	MaxMigratingPerWorkload *intstr.IntOrString `json:"maxMigratingPerWorkload,omitempty"`
	// MaxUnavailablePerWorkload limits the pods of a workload that are unavailable at a time, as MaxMigratingPerWorkload. A pod that is replaced
	// before it is evicted is not one of them.
	MaxUnavailablePerWorkload *intstr.IntOrString `json:"maxUnavailablePerWorkload,omitempty"`
	// SkipCheckExpectedReplicas allows workloads whose replicas would all be migrated at a time; default false. Pods that are replaced before
	// they are evicted need no permission.
	SkipCheckExpectedReplicas *bool `json:"skipCheckExpectedReplicas,omitempty"`
	// ObjectLimiters limit migrations in a time; by default of a workload, in 5 minutes.
	ObjectLimiters map[LimitedObject]ObjectLimiter `json:"objectLimiters,omitempty"`

	// DefaultJobMode of jobs that have none: ReservationFirst, the default, or EvictDirectly.
	DefaultJobMode schedulingv1alpha1.PodMigrationJobMode `json:"defaultJobMode,omitempty"`
	// DefaultJobTTL of jobs that have none; default 5m.
	DefaultJobTTL *metav1.Duration `json:"defaultJobTTL,omitempty"`
	// EvictQPS limits evictions per second, as a number or a string; default 10.
	EvictQPS *resource.Quantity `json:"evictQPS,omitempty"`
	// EvictBurst is the number of evictions that may come at once; default 1.
	EvictBurst int32 `json:"evictBurst,omitempty"`
	// EvictionPolicy is Eviction, the default, Delete, SoftEviction, Surge or EvictionRequest. Label koordinator.sh/evict-policy of a pod wins over it.
	EvictionPolicy EvictionPolicy `json:"evictionPolicy,omitempty"`
	// DefaultDeleteOptions of jobs that have none.
	DefaultDeleteOptions *metav1.DeleteOptions `json:"defaultDeleteOptions,omitempty"`
	// SchedulerNames are the schedulers that know Reservations; default koord-scheduler. Pods of other schedulers cannot be migrated
	// with a reservation.
	SchedulerNames []string `json:"schedulerNames,omitempty"`
	// ArbitrationArgs configures the arbitrator.
	ArbitrationArgs *ArbitrationArgs `json:"arbitrationArgs,omitempty"`
}

// Namespaces are those included, or all but those excluded.
type Namespaces struct {
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// PriorityThreshold is a priority, or the name of a PriorityClass.
type PriorityThreshold struct {
	Value *int32 `json:"value,omitempty"`
	Name  string `json:"name,omitempty"`
}

// ObjectLimiter limits the migrations of one object in a time.
type ObjectLimiter struct {
	// Duration in which migrations are counted; 0 switches the limiter off.
	Duration metav1.Duration `json:"duration,omitempty"`
	// MaxMigrating in that time; by default MaxMigratingPerWorkload of a workload.
	MaxMigrating *intstr.IntOrString `json:"maxMigrating,omitempty"`
	// Burst is the number of migrations that may come at once; default 1.
	Burst int32 `json:"burst,omitempty"`
}

// ArbitrationArgs configures the arbitrator.
type ArbitrationArgs struct {
	// Enabled is accepted for files of upstream, which does not read it either: jobs are always arbitrated.
	Enabled bool `json:"enabled,omitempty"`
	// Interval of two rounds; default 500ms.
	Interval *metav1.Duration `json:"interval,omitempty"`
}

// DefaultTTL of a job.
const DefaultTTL = 5 * time.Minute

// DefaultArgs returns Args with every default filled in.
func DefaultArgs() *Args {
	args := &Args{}
	SetDefaults(args)
	return args
}

// SetDefaults fills in what the configuration leaves open.
func SetDefaults(args *Args) {
	setDefault(&args.MaxConcurrentReconciles, 1)
	setDefault(&args.EvictBurst, 1)
	setDefault(&args.DefaultJobMode, schedulingv1alpha1.PodMigrationJobModeReservationFirst)
	setDefault(&args.EvictionPolicy, Eviction)
	if args.MaxMigratingPerNode == nil {
		args.MaxMigratingPerNode = new(int32(2))
	}
	if args.SkipCheckExpectedReplicas == nil {
		args.SkipCheckExpectedReplicas = new(false)
	}
	if args.ObjectLimiters == nil {
		args.ObjectLimiters = map[LimitedObject]ObjectLimiter{LimitedWorkload: {Duration: metav1.Duration{Duration: 5 * time.Minute}}}
	}
	for object, limiter := range args.ObjectLimiters {
		setDefault(&limiter.Burst, 1)
		if limiter.MaxMigrating == nil && object == LimitedWorkload {
			limiter.MaxMigrating = args.MaxMigratingPerWorkload
		}
		args.ObjectLimiters[object] = limiter
	}
	if args.DefaultJobTTL == nil {
		args.DefaultJobTTL = &metav1.Duration{Duration: DefaultTTL}
	}
	if args.EvictQPS == nil {
		args.EvictQPS = resource.NewQuantity(10, resource.DecimalSI)
	}
	if len(args.SchedulerNames) == 0 {
		args.SchedulerNames = []string{"koord-scheduler"}
	}
	if args.ArbitrationArgs == nil {
		args.ArbitrationArgs = &ArbitrationArgs{Enabled: true}
	}
	if args.ArbitrationArgs.Interval == nil {
		args.ArbitrationArgs.Interval = &metav1.Duration{Duration: 500 * time.Millisecond}
	}
}

func setDefault[T comparable](value *T, to T) {
	var zero T
	if *value == zero {
		*value = to
	}
}
