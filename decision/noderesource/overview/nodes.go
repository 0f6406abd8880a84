package overview

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/core/fanout"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/scheduling/loadaware"
)

// NodesInput is what the rows of nodes are made of. Nothing in it is modified.
type NodesInput struct {
	Nodes []corev1.Node
	// Pods of at least those nodes. Those without a node are left out.
	Pods []overcommit.PodRequests
	// Metrics of at least those nodes.
	Metrics []slov1alpha1.NodeMetric
	// LoadArgs are the arguments of load-aware scheduling; nil for the defaults.
	LoadArgs *loadaware.Args
	// Config says when measurements count as too old; nil for the built-in configuration.
	Config *configmerge.Config
	// NoPercentiles says that the metrics come without them: where load is judged by percentiles, it is then unknown.
	NoPercentiles bool
	// Operands adds what the load of each node was judged by.
	Operands bool
	// Unknown are the inputs that could not be read.
	Unknown unknown.Inputs
	Now     time.Time
}

// Nodes is one row for each node, ordered by name.
func Nodes(in NodesInput) *diagnosticsv1alpha1.NodeOverviewList {
	podsOf := podsByNode(in.Pods, len(in.Nodes))
	metricOf := metricsByName(in.Metrics)
	policy := loadaware.NewPolicy(in.LoadArgs)
	list := &diagnosticsv1alpha1.NodeOverviewList{
		TypeMeta: typeMeta("NodeOverviewList"),
		Items:    make([]diagnosticsv1alpha1.NodeOverview, len(in.Nodes)),
		Unknown:  in.Unknown.List(),
	}
	unjudged := in.Unknown.Because(unknown.NodeMetrics, unknown.SchedulerConfiguration)
	var unjudgeable atomic.Int64
	fanout.Each(len(in.Nodes), func(i int) {
		node := &in.Nodes[i]
		input := overcommit.NodeInput{Node: node, Metric: metricOf[node.Name], Now: in.Now, Unknown: in.Unknown}
		if in.Config != nil {
			input.Strategy = in.Config.Colocation(node)
		}
		load := diagnosticsv1alpha1.LoadOverview{State: diagnosticsv1alpha1.LoadUnknown, Message: unjudged}
		switch {
		case unjudged != "":
		case in.NoPercentiles && policy.ComparesPercentiles(node):
			load.Message = "judged by usage percentiles, which are not read here"
			unjudgeable.Add(1)
		default:
			load = policy.NodeLoad(node, input.Metric, in.Now, in.Operands)
		}
		list.Items[i] = nodeRow(input, podsOf[node.Name], load)
	})
	if n := int(unjudgeable.Load()); n > 0 {
		list.Incomplete = append(list.Incomplete, "the load of "+phrase.Counted(n, "node")+" is unknown: it is judged by usage percentiles, which are not read here")
	}
	slices.SortFunc(list.Items, func(a, b diagnosticsv1alpha1.NodeOverview) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// nodeRow is one node's row. The load is what loadaware.NodeLoad says of it.
func nodeRow(in overcommit.NodeInput, pods []*overcommit.PodRequests, load diagnosticsv1alpha1.LoadOverview) diagnosticsv1alpha1.NodeOverview {
	node := in.Node
	summary := overcommit.Summarize(in, pods)
	row := diagnosticsv1alpha1.NodeOverview{
		TypeMeta: typeMeta("NodeOverview"),
		ObjectMeta: metav1.ObjectMeta{
			Name: node.Name, UID: node.UID, Labels: node.Labels, CreationTimestamp: node.CreationTimestamp,
		},
		CPU:           resourceRow(summary, node, milliCPU, extension.MidCPU, extension.BatchCPU),
		Memory:        resourceRow(summary, node, memory, extension.MidMemory, extension.BatchMemory),
		Metric:        summary.Metric,
		Load:          load,
		Ready:         overcommit.Ready(node),
		Unschedulable: node.Spec.Unschedulable,
	}
	if summary.Listed {
		row.Pods = &summary.Pods
	}
	return row
}

func resourceRow(s overcommit.Summary, node *corev1.Node, side func(podrequest.Amount) int64, mid, batch corev1.ResourceName) diagnosticsv1alpha1.ResourceOverview {
	row := diagnosticsv1alpha1.ResourceOverview{
		Capacity:         side(s.Capacity.Total),
		Allocatable:      side(s.Capacity.Shown),
		MidAllocatable:   overcommit.Published(node, mid),
		BatchAllocatable: overcommit.Published(node, batch),
	}
	if s.Listed {
		requested := [3]int64{side(s.ProdRequested), side(s.MidRequested), side(s.BatchRequested)}
		row.ProdRequested, row.MidRequested, row.BatchRequested = &requested[0], &requested[1], &requested[2]
	}
	if raw := side(s.Capacity.Raw); raw != row.Allocatable {
		row.RawAllocatable = &raw
	}
	if !s.Measured {
		return row
	}
	used := [6]int64{side(s.NodeUsed), side(s.SystemUsed), side(s.ProdUsed), side(s.MidUsed), side(s.BatchUsed), side(s.FreeUsed)}
	row.Used, row.SystemUsed, row.ProdUsed = &used[0], &used[1], &used[2]
	row.MidUsed, row.BatchUsed, row.FreeUsed = &used[3], &used[4], &used[5]
	if s.Reclaimable != nil {
		row.Reclaimable = new(side(*s.Reclaimable))
	}
	return row
}

func milliCPU(a podrequest.Amount) int64 { return a.MilliCPU }

func memory(a podrequest.Amount) int64 { return a.Memory }

// podsByNode has the pods of each node side by side.
func podsByNode(pods []overcommit.PodRequests, nodes int) map[string][]*overcommit.PodRequests {
	counts := make(map[string]int, nodes)
	for i := range pods {
		counts[pods[i].Node]++
	}
	delete(counts, "")
	all := make([]*overcommit.PodRequests, len(pods))
	byNode := make(map[string][]*overcommit.PodRequests, len(counts))
	for name, count := range counts {
		byNode[name], all = all[:0:count], all[count:]
	}
	for i := range pods {
		if name := pods[i].Node; name != "" {
			byNode[name] = append(byNode[name], &pods[i])
		}
	}
	return byNode
}

func metricsByName(metrics []slov1alpha1.NodeMetric) map[string]*slov1alpha1.NodeMetric {
	byName := make(map[string]*slov1alpha1.NodeMetric, len(metrics))
	for i := range metrics {
		byName[metrics[i].Name] = &metrics[i]
	}
	return byName
}

// version is that of the rows.
var version = diagnosticsv1alpha1.GroupVersion.String()

func typeMeta(kind string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: version, Kind: kind} }
