package prediction

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/histogram"
	"koordinator.sh/koord/decision/core/predict"
)

// Defaults of the prediction.
const (
	DefaultColdStart           = 24 * time.Hour
	DefaultSafetyMarginPercent = 10
	// TrainInterval is the time between two trainings, and what each looks back on.
	TrainInterval = time.Minute
	// TrainFraction is the percentile of the TrainInterval that is learned.
	TrainFraction = 0.90
)

// modelExpiry is how long the model of a pod is kept that no longer runs.
const modelExpiry = 30 * time.Minute

// Options of the prediction.
type Options struct {
	// ColdStart is the age below which a pod is taken to need all it requests; 24 hours by default.
	ColdStart time.Duration
	// SafetyMarginPercent is added to every peak; 10 by default, negative for none.
	SafetyMarginPercent int64
}

func (o Options) withDefaults() Options {
	if o.ColdStart <= 0 {
		o.ColdStart = DefaultColdStart
	}
	if o.SafetyMarginPercent == 0 {
		o.SafetyMarginPercent = DefaultSafetyMarginPercent
	}
	o.SafetyMarginPercent = max(o.SafetyMarginPercent, 0)
	return o
}

// Node is what was learned about one node's pods. It is not safe for concurrent use.
type Node struct {
	options Options
	pods    map[types.UID]*podModel
	// prod, none and system are models of sums: of prod pods, of pods outside of all bands, and of what is no pod.
	prod, none, system model
}

type podModel struct {
	model
	trained time.Time
}

// model is the histograms of one usage.
type model struct {
	cpu, memory histogram.Histogram
}

func newModel() model {
	return model{cpu: *predict.KoordinatorCPU.New(), memory: *predict.KoordinatorMemory.New()}
}

func (m *model) add(usage metrics.Usage, weight float64, at time.Time) {
	m.cpu.Add(float64(usage.NanoCores)/1e9, weight, at)
	m.memory.Add(float64(usage.Memory), weight, at)
}

// Sample is what one pod used.
type Sample struct {
	UID types.UID
	// Band of the pod.
	Band extension.PriorityClass
	// Usage is the TrainFraction percentile of the time the sample stands for.
	Usage metrics.Usage
}

// NewNode returns a Node that has learned nothing.
func NewNode(options Options) *Node {
	return &Node{
		options: options.withDefaults(), pods: map[types.UID]*podModel{},
		prod: newModel(), none: newModel(), system: newModel(),
	}
}

// Train learns from what the pods and the system used for some time, TrainInterval as a rule; samples that stand for a
// longer time count for more. Classes of pods are trained at each call, with the sum of their pods' samples, so that a
// class without pods learns that it uses nothing.
func (n *Node) Train(at time.Time, stands time.Duration, pods []Sample, system metrics.Usage) {
	var prod, none metrics.Usage
	for _, pod := range pods {
		n.TrainPod(at, stands, pod)
		switch pod.Band {
		case extension.PriorityProd:
			prod = prod.Plus(pod.Usage)
		case extension.PriorityNone:
			none = none.Plus(pod.Usage)
		}
	}
	weight := weightOf(stands)
	n.prod.add(prod, weight, at)
	n.none.add(none, weight, at)
	n.system.add(system, weight, at)
	for uid, pod := range n.pods {
		// One that was trained in the future was so by a clock that was set back since.
		if age := at.Sub(pod.trained); age > modelExpiry || age < -modelExpiry {
			delete(n.pods, uid)
		}
	}
}

// TrainPod learns from what one prod pod used and nothing about its class; pods of other bands are ignored, because
// nothing is predicted for them.
func (n *Node) TrainPod(at time.Time, stands time.Duration, sample Sample) {
	if sample.Band != extension.PriorityProd {
		return
	}
	pod, known := n.pods[sample.UID]
	if !known {
		pod = &podModel{model: newModel()}
		n.pods[sample.UID] = pod
	}
	pod.add(sample.Usage, weightOf(stands), at)
	pod.trained = at
}

func weightOf(stands time.Duration) float64 { return float64(stands) / float64(TrainInterval) }

// Knows reports whether anything was learned about a pod.
func (n *Node) Knows(uid types.UID) bool { return n.pods[uid] != nil }
