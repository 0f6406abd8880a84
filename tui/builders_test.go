package tui

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/fixture"
)

const gib = int64(1) << 30

// builtAt is when what builders make was measured.
var builtAt = fixture.Epoch

func builtNow() time.Time { return builtAt }

// nodeBuilder builds what the source says of a node: ready, with a fresh NodeMetric and normal load, and nothing measured.
type nodeBuilder struct{ diagnostics.NodeOverview }

func makeNode(name string) *nodeBuilder {
	b := &nodeBuilder{diagnostics.NodeOverview{Ready: true, Pods: new(int32(4))}}
	b.Name = name
	b.CPU = diagnostics.ResourceOverview{Capacity: 32000, Allocatable: 31000}
	b.Memory = diagnostics.ResourceOverview{Capacity: 128 * gib, Allocatable: 124 * gib}
	b.Load.State = diagnostics.LoadNormal
	return b.metric(diagnostics.MetricFresh, 10*time.Second)
}

// metric is the state and the age of the NodeMetric.
func (b *nodeBuilder) metric(state diagnostics.MetricState, age time.Duration) *nodeBuilder {
	b.Metric = diagnostics.MetricFacts{State: state, ReportIntervalSeconds: 60, UpdateTime: new(metav1.NewTime(builtAt.Add(-age)))}
	return b
}

// unreported is a node whose NodeMetric was never written.
func (b *nodeBuilder) unreported(state diagnostics.MetricState) *nodeBuilder {
	b.Metric = diagnostics.MetricFacts{State: state}
	return b
}

func (b *nodeBuilder) load(state diagnostics.LoadState, message string) *nodeBuilder {
	b.Load = diagnostics.LoadOverview{State: state, Message: message}
	return b
}

func (b *nodeBuilder) notReady() *nodeBuilder { b.Ready = false; return b }

func (b *nodeBuilder) cordoned() *nodeBuilder { b.Unschedulable = true; return b }

func (b *nodeBuilder) pods(n *int32) *nodeBuilder { b.Pods = n; return b }

// uses is the CPU in thousandths of a core that prod pods, batch pods and the system use.
func (b *nodeBuilder) uses(prod, batch, system int64) *nodeBuilder {
	b.CPU.ProdUsed, b.CPU.BatchUsed, b.CPU.SystemUsed, b.CPU.MidUsed = new(prod), new(batch), new(system), new(int64(0))
	b.CPU.Used = new(prod + batch + system)
	return b
}

// requests is the CPU that prod pods request.
func (b *nodeBuilder) requests(prod int64) *nodeBuilder { b.CPU.ProdRequested = new(prod); return b }

// batch is the batch CPU that is offered and requested.
func (b *nodeBuilder) batch(offered, requested int64) *nodeBuilder {
	b.CPU.BatchAllocatable, b.CPU.BatchRequested = new(offered), new(requested)
	return b
}

// mid is the mid CPU that is offered and requested.
func (b *nodeBuilder) mid(offered, requested int64) *nodeBuilder {
	b.CPU.MidAllocatable, b.CPU.MidRequested = new(offered), new(requested)
	return b
}

func (b *nodeBuilder) row() nodeRow {
	return nodeRows(&diagnostics.NodeOverviewList{Items: []diagnostics.NodeOverview{b.NodeOverview}})[0]
}

// podBuilder builds what the source says of a pod: it runs, in no QoS class, and nothing is measured.
type podBuilder struct{ diagnostics.PodOverview }

func makePod(namespace, name string) *podBuilder {
	b := &podBuilder{diagnostics.PodOverview{Phase: corev1.PodRunning}}
	b.Namespace, b.Name = namespace, name
	b.CPU.Tier, b.Memory.Tier = "plain", "plain"
	return b
}

func (b *podBuilder) phase(p corev1.PodPhase) *podBuilder { b.Phase = p; return b }

func (b *podBuilder) pending(reason string) *podBuilder {
	b.Phase, b.Reason = corev1.PodPending, reason
	return b
}

func (b *podBuilder) on(node string) *podBuilder { b.NodeName = node; return b }

func (b *podBuilder) class(qos, band string) *podBuilder {
	b.QoSClass, b.PriorityBand = qos, band
	return b
}

func (b *podBuilder) requests(cpu, memory int64) *podBuilder {
	b.CPU.Requested, b.Memory.Requested = cpu, memory
	return b
}

func (b *podBuilder) uses(cpu, memory int64) *podBuilder {
	b.CPU.Used, b.Memory.Used = new(cpu), new(memory)
	b.ObservedAt = new(metav1.NewTime(builtAt.Add(-20 * time.Second)))
	return b
}

func (b *podBuilder) row() podRow { return podRow{&b.PodOverview} }

// waterfallBuilder builds a waterfall in thousandths of a core.
type waterfallBuilder struct{ diagnostics.Waterfall }

func makeWaterfall(resource string) *waterfallBuilder {
	return &waterfallBuilder{diagnostics.Waterfall{Resource: resource, Unit: diagnostics.MilliCPU, Policy: "usage"}}
}

func (b *waterfallBuilder) term(o diagnostics.Operator, name string, value int64) *waterfallBuilder {
	b.Terms = append(b.Terms, diagnostics.Term{Name: name, Operator: o, Value: value, Unit: diagnostics.MilliCPU})
	if o == diagnostics.Result {
		b.Result = value
	}
	return b
}

// last changes the last term.
func (b *waterfallBuilder) last(change func(*diagnostics.Term)) *waterfallBuilder {
	change(&b.Terms[len(b.Terms)-1])
	return b
}

// nodeExplanationBuilder builds the explanation of a node.
type nodeExplanationBuilder struct{ diagnostics.NodeExplanation }

func makeNodeExplanation(name string) *nodeExplanationBuilder {
	b := &nodeExplanationBuilder{}
	b.Name, b.Spec.NodeName = name, name
	return b
}

func (b *nodeExplanationBuilder) waterfall(w *waterfallBuilder) *nodeExplanationBuilder {
	b.Status.Waterfalls = append(b.Status.Waterfalls, w.Waterfall)
	return b
}

func (b *nodeExplanationBuilder) published(resource string, state diagnostics.SyncState, published, computed *int64, reason string) *nodeExplanationBuilder {
	b.Status.Published = append(b.Status.Published, diagnostics.PublishedResource{
		Resource: resource, Unit: diagnostics.MilliCPU, State: state, Published: published, Computed: computed, Reason: reason})
	return b
}

func (b *nodeExplanationBuilder) setting(key, value, layer string) *nodeExplanationBuilder {
	b.Status.Strategy = append(b.Status.Strategy, diagnostics.Setting{Key: key, Value: value, Layer: layer})
	return b
}

// podExplanationBuilder builds the explanation of a pod that no node takes.
type podExplanationBuilder struct{ diagnostics.PodExplanation }

func makePodExplanation(namespace, name string) *podExplanationBuilder {
	b := &podExplanationBuilder{}
	b.Namespace, b.Name, b.Spec.PodName = namespace, name, name
	b.Status.Pod = diagnostics.PodFacts{Namespace: namespace, Name: name, Phase: corev1.PodPending}
	b.Status.Verdict, b.Status.NodesTotal = diagnostics.PodUnschedulable, 3
	return b
}

func (b *podExplanationBuilder) verdict(v diagnostics.PodVerdict) *podExplanationBuilder {
	b.Status.Verdict = v
	return b
}

func (b *podExplanationBuilder) refused(plugin, message string, count, sole int32, nodes ...diagnostics.NodeRefusal) *podExplanationBuilder {
	b.Status.Groups = append(b.Status.Groups, diagnostics.RefusalGroup{Plugin: plugin, Code: "KOORD1901", Class: "capacity",
		Reason: "Insufficient cpu", Message: message, Count: count, Sole: sole, Nodes: nodes})
	return b
}

func (b *podExplanationBuilder) fix(f diagnostics.Fix) *podExplanationBuilder {
	b.Status.Fix = &f
	return b
}

func (b *podExplanationBuilder) placement(p diagnostics.Placement) *podExplanationBuilder {
	b.Status.Placement = &p
	return b
}

func (b *podExplanationBuilder) preemption(p diagnostics.Preemption) *podExplanationBuilder {
	b.Status.Preemption = &p
	return b
}
