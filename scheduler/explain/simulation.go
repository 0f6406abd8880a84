package explain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/decision/core/disclosure"
	"koordinator.sh/koord/scheduler/reason"
)

// simulation is one profile's framework for explanations. It serves one evaluation at a time.
type simulation struct {
	framework  framework.Framework
	now        func() time.Time
	simulated  *simulatedState
	nominator  fwk.PodNominator
	preEnqueue []fwk.PreEnqueuePlugin
	preFilter  []fwk.PreFilterPlugin
	filter     []fwk.FilterPlugin
	weights    map[string]int32
	// What the plugins know of their refusals, by their names.
	explainers map[string]reason.Explainer
	coders     map[string]reason.Coder
	remediable map[string]reason.Remediable
	// relayed names the plugins whose refusals a plugin returns as its own.
	relayed map[string][]string
	// What plugins propose.
	advisers        []reason.Adviser
	clusterAdvisers []reason.ClusterAdviser
	releasers       []reason.Releaser
	// nodePolicies are the labels by which a node imposes something on all its pods.
	nodePolicies []string
	// What plugins know of pods; nil when no plugin does.
	estimator    reason.Estimator
	annotator    reason.Annotator
	reservations reason.ReservationCounter
	preemptors   []preemptor
	// reserving are those that serve reserve pods, in the place of the others.
	reserving []preemptor
	// groupers are the plugins that place pods together, allocators those that give them CPUs and devices.
	groupers   []reason.Grouper
	allocators []fwk.ReservePlugin
	// placements counts the pods placed for the explanation at hand.
	placements int
	// changing is true while changes are tried.
	changing bool
	// rights of the caller bound the changes that are tried; nil for all.
	rights disclosure.Access
	// whole are the plugins that make room for several pods at once.
	whole     []reason.WholePreemptor
	extenders []string
	workloads workloads
}

// newSimulation builds a second framework from a profile of the scheduler. It shares what the scheduler's framework
// reads from (informers, device and volume managers, nominations) and none of what it writes to.
func newSimulation(ctx context.Context, settings Config, profile config.KubeSchedulerProfile) (*simulation, error) {
	original := settings.Profiles[profile.SchedulerName]
	if original == nil {
		return nil, fmt.Errorf("profile %q has no framework", profile.SchedulerName)
	}
	sim := &simulation{now: settings.Now, simulated: newSimulatedState(settings.Parts), nominator: readOnlyNominator{settings.Nominator}, weights: map[string]int32{},
		workloads: workloadsOf(settings.Informers)}
	created := map[string]fwk.Plugin{}
	registry, err := capturingRegistry(sim.simulated.registry(), created)
	if err != nil {
		return nil, err
	}
	name := profile.SchedulerName
	profile.SchedulerName += " (explain)" // keeps its metrics apart
	options := []frameworkruntime.Option{
		frameworkruntime.WithClientSet(settings.Client),
		frameworkruntime.WithInformerFactory(settings.Informers),
		frameworkruntime.WithSharedDRAManager(original.SharedDRAManager()),
		frameworkruntime.WithSharedCSIManager(original.SharedCSIManager()),
		frameworkruntime.WithPodGroupManager(original.PodGroupManager()),
		frameworkruntime.WithSnapshotSharedLister(sim.simulated),
		frameworkruntime.WithPodNominator(sim.nominator),
		frameworkruntime.WithPodActivator(noActivator{}),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
		frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
	}
	if sim.framework, err = frameworkruntime.NewFramework(ctx, registry, &profile, options...); err != nil {
		return nil, fmt.Errorf("build the explaining framework of profile %q: %w", name, err)
	}
	for _, extender := range original.Extenders() {
		sim.extenders = append(sim.extenders, extender.Name())
	}
	sim.adopt(created)
	sim.adoptPreemptors(created)
	return sim, nil
}

// capturingRegistry is the registry of Kubernetes and of the scheduler's own plugins, with each factory remembering what it made.
func capturingRegistry(own frameworkruntime.Registry, created map[string]fwk.Plugin) (frameworkruntime.Registry, error) {
	registry := plugins.NewInTreeRegistry()
	if err := registry.Merge(own); err != nil {
		return nil, fmt.Errorf("merge plugin registries: %w", err)
	}
	for name, factory := range registry {
		registry[name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			plugin, err := factory(ctx, args, handle)
			if err == nil {
				created[plugin.Name()] = plugin
			}
			return plugin, err
		}
	}
	return registry, nil
}

// adopt lists the plugins by extension point, in the order in which the framework runs them.
func (s *simulation) adopt(created map[string]fwk.Plugin) {
	enabled := s.framework.ListPlugins()
	s.preEnqueue = pluginsOf[fwk.PreEnqueuePlugin](enabled.PreEnqueue, created)
	s.preFilter = pluginsOf[fwk.PreFilterPlugin](enabled.PreFilter, created)
	s.filter = pluginsOf[fwk.FilterPlugin](enabled.Filter, created)
	for _, plugin := range enabled.Score.Enabled {
		s.weights[plugin.Name] = plugin.Weight
	}
	for _, plugin := range pluginsOf[reason.Allocator](enabled.Reserve, created) {
		s.allocators = append(s.allocators, plugin)
	}
	s.adoptReasons(created)
}

// adoptReasons finds what the plugins know beyond what the framework asks them.
func (s *simulation) adoptReasons(created map[string]fwk.Plugin) {
	s.explainers, s.coders, s.remediable = namedOf[reason.Explainer](created), namedOf[reason.Coder](created), namedOf[reason.Remediable](created)
	s.advisers, s.clusterAdvisers = allOf[reason.Adviser](created), allOf[reason.ClusterAdviser](created)
	s.releasers, s.groupers = allOf[reason.Releaser](created), allOf[reason.Grouper](created)
	s.estimator, s.annotator = pluginOf[reason.Estimator](created), pluginOf[reason.Annotator](created)
	s.reservations = pluginOf[reason.ReservationCounter](created)
	for _, plugin := range allOf[reason.NodePolicies](created) {
		s.nodePolicies = append(s.nodePolicies, plugin.NodePolicyLabels()...)
	}
	s.relayed = map[string][]string{}
	for _, relay := range allOf[reason.Relay](created) {
		for _, other := range allOf[fwk.Plugin](created) {
			if relay.Relays(other) {
				s.relayed[relay.Name()] = append(s.relayed[relay.Name()], other.Name())
			}
		}
	}
}

// allOf lists the plugins of a kind in the order of their names.
func allOf[T fwk.Plugin](created map[string]fwk.Plugin) []T {
	var list []T
	for _, name := range slices.Sorted(maps.Keys(created)) {
		if plugin, is := created[name].(T); is {
			list = append(list, plugin)
		}
	}
	return list
}

// namedOf are the plugins of a kind by their names.
func namedOf[T fwk.Plugin](created map[string]fwk.Plugin) map[string]T {
	named := map[string]T{}
	for _, plugin := range allOf[T](created) {
		named[plugin.Name()] = plugin
	}
	return named
}

// pluginOf is the first plugin of a kind, nil when there is none.
func pluginOf[T fwk.Plugin](created map[string]fwk.Plugin) T {
	var first T
	if list := allOf[T](created); len(list) > 0 {
		first = list[0]
	}
	return first
}

func pluginsOf[T fwk.Plugin](set config.PluginSet, created map[string]fwk.Plugin) []T {
	var list []T
	for _, enabled := range set.Enabled {
		if plugin, ok := created[enabled.Name].(T); ok {
			list = append(list, plugin)
		}
	}
	return list
}

// readOnlyNominator shows nominations and makes none.
type readOnlyNominator struct{ nominations fwk.PodNominator }

func (readOnlyNominator) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo)  {}
func (readOnlyNominator) DeleteNominatedPodIfExists(*corev1.Pod)                         {}
func (readOnlyNominator) UpdateNominatedPod(_ klog.Logger, _ *corev1.Pod, _ fwk.PodInfo) {}
func (n readOnlyNominator) NominatedPodsForNode(node string) []fwk.PodInfo {
	if n.nominations == nil {
		return nil
	}
	return n.nominations.NominatedPodsForNode(node)
}

// noActivator wakes nothing.
type noActivator struct{}

func (noActivator) Activate(klog.Logger, map[string]*corev1.Pod) {}
