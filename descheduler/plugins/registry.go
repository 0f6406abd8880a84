package plugins

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/defaultevictor"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/nodeutilization"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/podlifetime"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removeduplicates"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removefailedpods"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removepodshavingtoomanyrestarts"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatinginterpodantiaffinity"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatingnodeaffinity"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatingnodetaints"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/decision/descheduling/fragmentation"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/decision/descheduling/nodetiers"
	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/decision/descheduling/scaledown"
	"koordinator.sh/koord/descheduler/pluginargs"
	"koordinator.sh/koord/descheduler/plugins/custompriority"
	"koordinator.sh/koord/descheduler/plugins/fragmentationaware"
	nodeload "koordinator.sh/koord/descheduler/plugins/lownodeload"
	"koordinator.sh/koord/descheduler/plugins/migrationcontroller"
	loadrebalance "koordinator.sh/koord/descheduler/plugins/rebalance"
	"koordinator.sh/koord/descheduler/plugins/scaledownbinpack"
)

// A registration is one plugin: its name, an instance that shows which extension points it has, and what reads its arguments.
type registration struct {
	name     string
	build    pluginregistry.PluginBuilder
	plugin   frameworktypes.Plugin
	args     runtime.Object
	validate pluginregistry.PluginArgValidator
	defaults pluginregistry.PluginArgDefaulter
}

// own is the registration of a plugin of the project, whose arguments are a plain struct:
//
//	own("LowNodeLoad", nodeload.New, &nodeload.Plugin{}, lownodeload.SetDefaults, lownodeload.Validate),
func own[T any](
	name string,
	build func(ctx context.Context, args *T, handle frameworktypes.Handle) (frameworktypes.Plugin, error),
	plugin frameworktypes.Plugin,
	defaults func(*T),
	validate func(*T) field.ErrorList,
) registration {
	return registration{
		name: name,
		build: func(ctx context.Context, object runtime.Object, handle frameworktypes.Handle) (frameworktypes.Plugin, error) {
			args, err := pluginargs.Of[T](object)
			if err != nil {
				return nil, err
			}
			return build(ctx, args, handle)
		},
		plugin: plugin, args: &pluginargs.Args[T]{},
		validate: pluginargs.Validator(validate), defaults: pluginargs.Defaulter(defaults),
	}
}

// Sources are what plugins of the project read or keep beside what their handle gives them. With the zero value they read with the client of
// the handle, and keep what they remember in memory.
type Sources struct {
	LowNodeLoad nodeload.Sources
	Rebalance   loadrebalance.Sources
}

// registrations are all plugins. A plugin is added by one entry; own makes those of the project.
func registrations(sources Sources) []registration {
	return []registration{
		own(migration.PluginName, migrationcontroller.New, &migrationcontroller.Plugin{}, migration.SetDefaults, migration.Validate),
		{
			defaultevictor.PluginName, defaultevictor.New, &defaultevictor.DefaultEvictor{}, &defaultevictor.DefaultEvictorArgs{},
			defaultevictor.ValidateDefaultEvictorArgs, defaultevictor.SetDefaults_DefaultEvictorArgs,
		},
		{
			nodeutilization.LowNodeUtilizationPluginName, nodeutilization.NewLowNodeUtilization,
			&nodeutilization.LowNodeUtilization{}, &nodeutilization.LowNodeUtilizationArgs{},
			nodeutilization.ValidateLowNodeUtilizationArgs, nodeutilization.SetDefaults_LowNodeUtilizationArgs,
		},
		{
			nodeutilization.HighNodeUtilizationPluginName, nodeutilization.NewHighNodeUtilization,
			&nodeutilization.HighNodeUtilization{}, &nodeutilization.HighNodeUtilizationArgs{},
			nodeutilization.ValidateHighNodeUtilizationArgs, nodeutilization.SetDefaults_HighNodeUtilizationArgs,
		},
		{
			podlifetime.PluginName, podlifetime.New, &podlifetime.PodLifeTime{}, &podlifetime.PodLifeTimeArgs{},
			podlifetime.ValidatePodLifeTimeArgs, podlifetime.SetDefaults_PodLifeTimeArgs,
		},
		{
			removeduplicates.PluginName, removeduplicates.New, &removeduplicates.RemoveDuplicates{}, &removeduplicates.RemoveDuplicatesArgs{},
			removeduplicates.ValidateRemoveDuplicatesArgs, removeduplicates.SetDefaults_RemoveDuplicatesArgs,
		},
		{
			removefailedpods.PluginName, removefailedpods.New, &removefailedpods.RemoveFailedPods{}, &removefailedpods.RemoveFailedPodsArgs{},
			removefailedpods.ValidateRemoveFailedPodsArgs, removefailedpods.SetDefaults_RemoveFailedPodsArgs,
		},
		{
			removepodshavingtoomanyrestarts.PluginName, removepodshavingtoomanyrestarts.New,
			&removepodshavingtoomanyrestarts.RemovePodsHavingTooManyRestarts{},
			&removepodshavingtoomanyrestarts.RemovePodsHavingTooManyRestartsArgs{},
			removepodshavingtoomanyrestarts.ValidateRemovePodsHavingTooManyRestartsArgs,
			removepodshavingtoomanyrestarts.SetDefaults_RemovePodsHavingTooManyRestartsArgs,
		},
		{
			removepodsviolatinginterpodantiaffinity.PluginName, removepodsviolatinginterpodantiaffinity.New,
			&removepodsviolatinginterpodantiaffinity.RemovePodsViolatingInterPodAntiAffinity{},
			&removepodsviolatinginterpodantiaffinity.RemovePodsViolatingInterPodAntiAffinityArgs{},
			removepodsviolatinginterpodantiaffinity.ValidateRemovePodsViolatingInterPodAntiAffinityArgs,
			removepodsviolatinginterpodantiaffinity.SetDefaults_RemovePodsViolatingInterPodAntiAffinityArgs,
		},
		{
			removepodsviolatingnodeaffinity.PluginName, removepodsviolatingnodeaffinity.New,
			&removepodsviolatingnodeaffinity.RemovePodsViolatingNodeAffinity{},
			&removepodsviolatingnodeaffinity.RemovePodsViolatingNodeAffinityArgs{},
			removepodsviolatingnodeaffinity.ValidateRemovePodsViolatingNodeAffinityArgs,
			removepodsviolatingnodeaffinity.SetDefaults_RemovePodsViolatingNodeAffinityArgs,
		},
		{
			removepodsviolatingnodetaints.PluginName, removepodsviolatingnodetaints.New,
			&removepodsviolatingnodetaints.RemovePodsViolatingNodeTaints{},
			&removepodsviolatingnodetaints.RemovePodsViolatingNodeTaintsArgs{},
			removepodsviolatingnodetaints.ValidateRemovePodsViolatingNodeTaintsArgs,
			removepodsviolatingnodetaints.SetDefaults_RemovePodsViolatingNodeTaintsArgs,
		},
		{
			removepodsviolatingtopologyspreadconstraint.PluginName, removepodsviolatingtopologyspreadconstraint.New,
			&removepodsviolatingtopologyspreadconstraint.RemovePodsViolatingTopologySpreadConstraint{},
			&removepodsviolatingtopologyspreadconstraint.RemovePodsViolatingTopologySpreadConstraintArgs{},
			removepodsviolatingtopologyspreadconstraint.ValidateRemovePodsViolatingTopologySpreadConstraintArgs,
			removepodsviolatingtopologyspreadconstraint.SetDefaults_RemovePodsViolatingTopologySpreadConstraintArgs,
		},
		own(rebalance.PluginName, loadrebalance.New(sources.Rebalance), &loadrebalance.Plugin{}, rebalance.SetDefaults, rebalance.Validate),
		own(lownodeload.PluginName, nodeload.New(sources.LowNodeLoad), &nodeload.Plugin{}, lownodeload.SetDefaults, lownodeload.Validate),
		own(fragmentation.PluginName, fragmentationaware.New, &fragmentationaware.Plugin{}, fragmentation.SetDefaults, fragmentation.Validate),
		own(scaledown.PluginName, scaledownbinpack.New, &scaledownbinpack.Plugin{}, scaledown.SetDefaults, scaledown.Validate),
		own(nodetiers.PluginName, custompriority.New, &custompriority.Plugin{}, nodetiers.SetDefaults, nodetiers.Validate),
	}
}

// Registry returns a new registry of all plugins, by name.
func Registry(sources Sources) pluginregistry.Registry {
	registry := pluginregistry.NewRegistry()
	for _, r := range registrations(sources) {
		pluginregistry.Register(r.name, r.build, r.plugin, r.args, r.validate, r.defaults, registry)
	}
	return registry
}
