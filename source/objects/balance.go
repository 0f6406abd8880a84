package objects

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/nodeload"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// BalanceInput is what was read of the cluster to say how koord-descheduler judges nodes. None of it is changed.
type BalanceInput struct {
	Nodes []corev1.Node
	// Partial says that there may be more nodes in the cluster.
	Partial bool
	// Pods of at least those nodes.
	Pods []corev1.Pod
	// Metrics of at least those nodes.
	Metrics []slov1alpha1.NodeMetric
	// Unread says why pods or NodeMetrics could not be read; empty when they were.
	Unread string
	// Descheduler is its configuration.
	Descheduler *Descheduler
	// Now is the moment of the answer.
	Now time.Time
}

// Balance says how koord-descheduler judges nodes by their load, by the names of the nodes. Those that no plugin judges are left out. It runs
// the classification of the plugins alone, and takes time linear in the nodes and pods.
func Balance(in *BalanceInput) (map[string]*diagnosticsv1alpha1.BalanceOverview, error) {
	b := newBalance(in)
	for i := range in.Descheduler.Profiles {
		profile := &in.Descheduler.Profiles[i]
		for _, name := range profile.Plugins {
			if err := b.plugin(profile, name); err != nil {
				return nil, fmt.Errorf("profile %s: arguments of %s: %w", profile.Name, name, err)
			}
		}
	}
	return b.judged, nil
}

// balance is an answer that is being made.
type balance struct {
	in      *BalanceInput
	pods    map[string][]*corev1.Pod
	metrics map[string]*slov1alpha1.NodeMetric
	judged  map[string]*diagnosticsv1alpha1.BalanceOverview
}

func newBalance(in *BalanceInput) *balance {
	b := &balance{
		in: in, pods: make(map[string][]*corev1.Pod, len(in.Nodes)), metrics: make(map[string]*slov1alpha1.NodeMetric, len(in.Metrics)),
		judged: make(map[string]*diagnosticsv1alpha1.BalanceOverview, len(in.Nodes)),
	}
	for i := range in.Pods {
		if pod := &in.Pods[i]; pod.Spec.NodeName != "" && !podstate.Ended(pod) {
			b.pods[pod.Spec.NodeName] = append(b.pods[pod.Spec.NodeName], pod)
		}
	}
	for i := range in.Metrics {
		b.metrics[in.Metrics[i].Name] = &in.Metrics[i]
	}
	return b
}

// plugin lets a plugin judge the nodes, if it moves pods for their load.
func (b *balance) plugin(profile *DeschedulerProfile, name string) error {
	switch {
	case name == lownodeload.PluginName && profile.LowNodeLoad != nil:
		return b.lowNodeLoad(profile, profile.LowNodeLoad, name)
	case name == rebalance.PluginName && profile.Rebalance != nil && profile.Rebalance.Mode == rebalance.Upstream:
		return b.lowNodeLoad(profile, profile.Rebalance.LowNodeLoad(), name)
	case name == rebalance.PluginName && profile.Rebalance != nil && !profile.Rebalance.Paused:
		return b.rebalance(profile)
	}
	return nil
}

// selected are the nodes of a profile, those that koord-descheduler looks at apart from those that are not ready.
func (b *balance) selected(profile *DeschedulerProfile) (looked, left []*corev1.Node) {
	for i := range b.in.Nodes {
		node := &b.in.Nodes[i]
		switch set := labels.Set(node.Labels); {
		case !b.in.Descheduler.Nodes.Matches(set) || !profile.Nodes.Matches(set):
		case ready(node):
			looked = append(looked, node)
		default:
			left = append(left, node)
		}
	}
	return looked, left
}

// note keeps how a plugin judges a node. A node that several judge is overutilized if it is for one of them.
func (b *balance) note(node string, found diagnosticsv1alpha1.BalanceOverview) {
	if b.in.Unread != "" {
		found.State, found.Message = diagnosticsv1alpha1.BalanceUnknown, b.in.Unread
	}
	before := b.judged[node]
	if before == nil || found.State == diagnosticsv1alpha1.BalanceOverutilized && before.State != diagnosticsv1alpha1.BalanceOverutilized {
		b.judged[node] = &found
	}
}

const notReady = "koord-descheduler leaves out nodes that are not ready"

// lowNodeLoad lets LowNodeLoad judge the nodes; plugin is the one that runs it. While paused it judges none.
func (b *balance) lowNodeLoad(profile *DeschedulerProfile, args *lownodeload.Args, plugin string) error {
	policy, err := lownodeload.Compile(args)
	if err != nil {
		return err
	}
	looked, left := b.selected(profile)
	relative := relativePools(args)
	for _, traced := range b.classified(policy, looked) {
		found := diagnosticsv1alpha1.BalanceOverview{State: stateOf(traced.Class), Plugin: plugin, Pool: poolName(traced.Pool), Message: loadMessage(&traced)}
		if b.in.Partial && relative[traced.Pool] && traced.Class != lownodeload.Unknown {
			found.State = diagnosticsv1alpha1.BalanceUnknown
			found.Message = "useDeviationThresholds compares with the mean of all nodes of the pool, and only some nodes were listed"
		}
		b.note(traced.Name, found)
	}
	for _, traced := range b.classified(policy, left) {
		b.note(traced.Name, diagnosticsv1alpha1.BalanceOverview{State: diagnosticsv1alpha1.BalanceUnknown, Plugin: plugin, Pool: poolName(traced.Pool), Message: notReady})
	}
	return nil
}

// classified are the nodes that are in a pool with their classes.
func (b *balance) classified(policy *lownodeload.Policy, nodes []*corev1.Node) []lownodeload.NodeTrace {
	in := lownodeload.Input{Policy: policy, Now: b.in.Now, Nodes: make([]lownodeload.Node, len(nodes))}
	for i, node := range nodes {
		in.Nodes[i] = lownodeload.Node{Node: node, Metric: nodeload.Of(b.metrics[node.Name]), Pods: b.pods[node.Name]}
	}
	var trace lownodeload.Trace
	lownodeload.Begin(in, &trace)
	return trace.Nodes
}

// relativePools are the pools whose thresholds are distances from the mean of their nodes.
func relativePools(args *lownodeload.Args) map[string]bool {
	out := map[string]bool{lownodeload.DefaultPool: *args.UseDeviationThresholds}
	for i := range args.NodePools {
		out[args.NodePools[i].Name] = *args.NodePools[i].UseDeviationThresholds
	}
	return out
}

func poolName(pool string) string {
	if pool == lownodeload.DefaultPool {
		return ""
	}
	return pool
}

func stateOf(class lownodeload.Class) diagnosticsv1alpha1.BalanceState {
	switch class {
	case lownodeload.High, lownodeload.ProdHigh:
		return diagnosticsv1alpha1.BalanceOverutilized
	case lownodeload.Low, lownodeload.BothLow:
		return diagnosticsv1alpha1.BalanceUnderutilized
	case lownodeload.Unknown:
		return diagnosticsv1alpha1.BalanceUnknown
	default:
		return diagnosticsv1alpha1.BalanceNormal
	}
}

// rebalance lets LoadAwareRebalancing judge the nodes, by the load that they report now in place of the predicted one.
func (b *balance) rebalance(profile *DeschedulerProfile) error {
	args := profile.Rebalance
	selector, err := nodesOf(args.NodeSelector)
	if err != nil {
		return fmt.Errorf("nodeSelector: %w", err)
	}
	in := rebalance.Input{Args: args, Now: b.in.Now, Resources: slices.Sorted(maps.Keys(args.HighThresholds))}
	looked, left := b.selected(profile)
	for _, node := range looked {
		if selector.Matches(labels.Set(node.Labels)) {
			one, _ := measuredNode(node, b.metrics[node.Name], b.pods[node.Name], in.Resources, in.Now, expirationOf(args))
			in.Nodes = append(in.Nodes, one)
		}
	}
	for i, class := range rebalance.Classify(in) {
		b.note(in.Nodes[i].Name, diagnosticsv1alpha1.BalanceOverview{
			State: plannedState(class.Class), Plugin: rebalance.PluginName, Message: plannedMessage(&in, i, &class),
		})
	}
	for _, node := range left {
		if selector.Matches(labels.Set(node.Labels)) {
			b.note(node.Name, diagnosticsv1alpha1.BalanceOverview{State: diagnosticsv1alpha1.BalanceUnknown, Plugin: rebalance.PluginName, Message: notReady})
		}
	}
	return nil
}

func plannedState(class rebalance.Class) diagnosticsv1alpha1.BalanceState {
	switch class {
	case rebalance.High:
		return diagnosticsv1alpha1.BalanceOverutilized
	case rebalance.Normal:
		return diagnosticsv1alpha1.BalanceNormal
	default:
		return diagnosticsv1alpha1.BalanceUnknown
	}
}
