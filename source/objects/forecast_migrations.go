package objects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/decision/scheduling/loadaware"
)

// MigrationSnapshot is what was read of the cluster to forecast migrations. None of it is changed.
type MigrationSnapshot struct {
	Nodes   []corev1.Node
	Pods    []corev1.Pod
	Metrics []slov1alpha1.NodeMetric
	// Jobs that are there: the pods of those under way are leaving already, and the others say where workloads have been.
	Jobs []schedulingv1alpha1.PodMigrationJob
	// Above are the controllers of ReplicaSets, by their UID, in the namespaces of jobs and of frozen workloads. A workload is a ReplicaSet where
	// none is known.
	Above map[types.UID]*metav1.OwnerReference
	// Frozen are the workloads that LoadAwareRebalancing leaves alone, by their UID: see FrozenWorkloads.
	Frozen map[types.UID]rebalance.Freeze
	// SLOs say from which load on agents hold best-effort pods back and evict.
	SLOs []slov1alpha1.NodeSLO
	// LoadAware are the arguments of LoadAwareScheduling; nil are the defaults.
	LoadAware *loadaware.Args
	// Descheduler is its configuration.
	Descheduler *Descheduler
	// Counts is the data of the ConfigMap in which koord-descheduler keeps how often in a row nodes were overutilized; nil when it could not
	// be read.
	Counts map[string]string
	// Review asks koord-scheduler where pods would go, or says why it cannot be asked; nil where there is no koord-scheduler to ask.
	Review func(question *diagnosticsv1alpha1.PlacementReviewSpec) (*diagnosticsv1alpha1.PlacementReviewStatus, *diagnosticsv1alpha1.Finding)
	// Rounds to look at, at least 1.
	Rounds int
	// Missing says what could not be read, why, and what follows.
	Missing []string
	// Now is the moment of the answer.
	Now time.Time
}

// forecast is a forecast that is being made. The nodes' pods and metrics change as pods move.
type forecast struct {
	in      *MigrationSnapshot
	nodes   []*corev1.Node
	pods    map[string][]*corev1.Pod
	metrics map[string]*slov1alpha1.NodeMetric
	agents  map[string]*slov1alpha1.ResourceThresholdStrategy
	limits  *loadaware.Policy
	leaving map[podName]string
	plugins []*plannedPlugin
	// rebalancers are the profiles with LoadAwareRebalancing.
	rebalancers []*plannedRebalance
	// number of the round, from 0 on.
	number int
	// moved are the moves by jobs and those of the rounds so far, and guard the workloads that are not moved in this round because of them.
	moved []loopguard.Move
	guard loopguard.Guard
	// arrived are the pods that moved in the rounds so far, each with its node.
	arrived []diagnosticsv1alpha1.PlacementReviewPod
	// unasked is true once koord-scheduler could not be asked.
	unasked bool
	answer  *diagnosticsv1alpha1.MigrationForecast
}

type podName struct{ namespace, name string }

// ForecastMigrations says what the plugins would move in the next rounds, if load stays as it is and every pod arrives on the node that
// the plugin found for it.
func ForecastMigrations(in *MigrationSnapshot) (*diagnosticsv1alpha1.MigrationForecast, error) {
	f := &forecast{in: in, answer: &diagnosticsv1alpha1.MigrationForecast{
		TypeMeta: metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: "MigrationForecast"},
		Rounds:   int32(in.Rounds), IntervalSeconds: int64(in.Descheduler.Interval / time.Second), DryRun: in.Descheduler.DryRun,
		Plugins: []string{}, Nodes: []diagnosticsv1alpha1.ForecastNode{}, Pools: []diagnosticsv1alpha1.ForecastPool{}, Moves: []diagnosticsv1alpha1.ForecastMove{},
		Incomplete: slices.Clone(in.Missing),
	}}
	f.read()
	if err := f.plan(); err != nil {
		return nil, err
	}
	for round := range in.Rounds {
		f.round(round)
	}
	f.conclude()
	return f.answer, nil
}

// read sorts pods and NodeMetrics to the nodes that are ready.
func (f *forecast) read() {
	f.moved = loopguard.MovesOf(f.in.Jobs)
	f.pods, f.metrics, f.leaving = map[string][]*corev1.Pod{}, map[string]*slov1alpha1.NodeMetric{}, map[podName]string{}
	var out []string
	for i := range f.in.Nodes {
		node := &f.in.Nodes[i]
		switch {
		case !f.in.Descheduler.Nodes.Matches(labels.Set(node.Labels)):
		case !ready(node):
			out = append(out, node.Name)
		default:
			f.nodes = append(f.nodes, node)
		}
	}
	if len(out) > 0 {
		f.note("nodes that are not ready are left out: " + strings.Join(out, ", "))
	}
	slices.SortFunc(f.nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	for i := range f.in.Jobs {
		job := &f.in.Jobs[i]
		if phase := job.Status.Phase; job.Spec.PodRef != nil && (phase == "" || phase == schedulingv1alpha1.PodMigrationJobPending || phase == schedulingv1alpha1.PodMigrationJobRunning) {
			f.leaving[podName{job.Spec.PodRef.Namespace, job.Spec.PodRef.Name}] = job.Name
		}
	}
	for i := range f.in.Pods {
		pod := &f.in.Pods[i]
		if pod.Spec.NodeName != "" && !podstate.Ended(pod) {
			f.pods[pod.Spec.NodeName] = append(f.pods[pod.Spec.NodeName], pod)
		}
	}
	for _, pods := range f.pods {
		slices.SortFunc(pods, func(a, b *corev1.Pod) int {
			return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
		})
	}
	f.agents, f.limits = map[string]*slov1alpha1.ResourceThresholdStrategy{}, loadaware.NewPolicy(f.in.LoadAware)
	for i := range f.in.SLOs {
		f.agents[f.in.SLOs[i].Name] = f.in.SLOs[i].Spec.ResourceUsedThresholdWithBE
	}
	for i := range f.in.Metrics {
		f.metrics[f.in.Metrics[i].Name] = f.in.Metrics[i].DeepCopy()
	}
}

func ready(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// plan compiles the plugins that can be forecast.
func (f *forecast) plan() error {
	for i := range f.in.Descheduler.Profiles {
		profile := &f.in.Descheduler.Profiles[i]
		for _, name := range profile.Plugins {
			if err := f.planPlugin(i, profile, name); err != nil {
				return fmt.Errorf("profile %s: %w", profile.Name, err)
			}
		}
	}
	return nil
}

// planPlugin compiles a plugin of the profile at a place.
func (f *forecast) planPlugin(at int, profile *DeschedulerProfile, name string) error {
	planned := name == rebalance.PluginName && profile.Rebalance != nil
	switch {
	case planned && profile.Rebalance.Mode == rebalance.Upstream:
		return f.planLowNodeLoad(profile, profile.Rebalance.LowNodeLoad(), name, nil, -1)
	case planned:
		return f.planRebalance(profile)
	case name == lownodeload.PluginName && profile.LowNodeLoad != nil:
		return f.planLowNodeLoad(profile, profile.LowNodeLoad, name, f.in.Counts, at)
	}
	f.answer.Unforecast = append(f.answer.Unforecast, name)
	f.lacks(fmt.Sprintf("plugin %s of profile %s is enabled and not forecast; it may evict pods too", name, profile.Name))
	return nil
}

func (f *forecast) planRebalance(profile *DeschedulerProfile) error {
	planner, unknown, err := newPlannedRebalance(profile)
	if err != nil {
		return err
	}
	f.answer.Incomplete = append(f.answer.Incomplete, unknown...)
	if f.in.Review == nil && profile.Rebalance.SchedulerReview != rebalance.ReviewNever {
		f.lacks(unreviewed)
	}
	f.rebalancers = append(f.rebalancers, planner)
	f.planned(rebalance.PluginName, profile.Rebalance.DryRun || profile.Migration.DryRun)
	return nil
}

// planLowNodeLoad compiles what runs as LowNodeLoad does, with the counts of the profile at a place where koord-descheduler keeps them.
func (f *forecast) planLowNodeLoad(profile *DeschedulerProfile, args *lownodeload.Args, name string, counts map[string]string, at int) error {
	plugin, unknown, err := newPlannedPlugin(profile, args, name)
	if err != nil {
		return err
	}
	plugin.history, plugin.recalled = lownodeload.StoredOf(counts, at)
	f.answer.Incomplete = append(f.answer.Incomplete, unknown...)
	f.plugins = append(f.plugins, plugin)
	f.planned(name, *args.DryRun || profile.Migration.DryRun)
	return nil
}

func (f *forecast) planned(name string, dryRun bool) {
	f.answer.Plugins = append(f.answer.Plugins, name)
	f.answer.DryRun = f.answer.DryRun || dryRun
}

// round makes one pass of all plugins. Usage stays as it is, and is as fresh as it is now.
func (f *forecast) round(number int) {
	f.number = number
	interval := f.in.Descheduler.Interval
	if number > 0 {
		for _, metric := range f.metrics {
			if at := metric.Status.UpdateTime; at != nil {
				metric.Status.UpdateTime = &metav1.Time{Time: at.Add(interval)}
			}
		}
	}
	f.guard = loopguard.NewGuard(loopguard.History{Moves: f.moved, Now: f.at(number), Window: f.in.Descheduler.HistoryWindow()})
	limits := newEvictionLimits(f.in.Descheduler)
	for _, plugin := range f.plugins {
		plugin.pass(f, number, limits)
	}
	for _, planner := range f.rebalancers {
		planner.pass(f, number, limits)
	}
}

// workload is what the moves of a pod are recorded for; nil for a pod without a controller.
func (f *forecast) workload(pod *corev1.Pod) *metav1.OwnerReference {
	controller := metav1.GetControllerOf(pod)
	if controller != nil && f.in.Above[controller.UID] != nil {
		return f.in.Above[controller.UID]
	}
	return controller
}

// keyOf a workload is that of the annotation source-workload of PodMigrationJobs.
func keyOf(workload *metav1.OwnerReference) string {
	return workload.Kind + "/" + workload.Name + "/" + string(workload.UID)
}

// move takes a pod with its usage to another node; to none, it only leaves.
func (f *forecast) move(pod *corev1.Pod, from, to string) {
	if workload := f.workload(pod); workload != nil {
		f.moved = append(f.moved, loopguard.Move{
			Workload: keyOf(workload), Pod: pod.Namespace + "/" + pod.Name, From: from, To: to, At: f.at(f.number), By: loopguard.ByDescheduler,
		})
	}
	same := func(other *corev1.Pod) bool { return other.Namespace == pod.Namespace && other.Name == pod.Name }
	f.pods[from] = slices.DeleteFunc(slices.Clone(f.pods[from]), same)
	var usage *slov1alpha1.PodMetricInfo
	if metric := f.metrics[from]; metric != nil {
		metric.Status.PodsMetric = slices.DeleteFunc(metric.Status.PodsMetric, func(info *slov1alpha1.PodMetricInfo) bool {
			if info == nil || info.Namespace != pod.Namespace || info.Name != pod.Name {
				return false
			}
			usage = info
			return true
		})
	}
	if to == "" {
		f.note("the argument nodeFit is false, so that the plugin looks for no node: the load of pods that move is on no node here")
		return
	}
	f.arrive(pod, to)
	moved := pod.DeepCopy()
	moved.Spec.NodeName = to
	f.pods[to] = append(slices.Clone(f.pods[to]), moved)
	if metric := f.metrics[to]; metric != nil && usage != nil {
		metric.Status.PodsMetric = append(metric.Status.PodsMetric, usage)
	}
}

func (f *forecast) note(text string) {
	if !slices.Contains(f.answer.Notes, text) {
		f.answer.Notes = append(f.answer.Notes, text)
	}
}

// at is the time of a round.
func (f *forecast) at(number int) time.Time {
	return f.in.Now.Add(time.Duration(number) * f.in.Descheduler.Interval)
}
