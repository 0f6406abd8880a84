package unknown

import (
	"maps"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Input is something that an answer depends on, in the words of RBAC.
type Input string

const (
	// Nodes are the nodes of the cluster.
	Nodes Input = "nodes"
	// Pods are the pods of the nodes that an answer is about.
	Pods Input = "pods"
	// Events are the events about a pod.
	Events Input = "events"
	// NodeMetrics are what nodes report of their use.
	NodeMetrics Input = "nodemetrics.slo.koordinator.sh"
	// NodeSLOs are what the cluster wants of node agents.
	NodeSLOs Input = "nodeslos.slo.koordinator.sh"
	// Topologies are the CPUs of nodes.
	Topologies Input = "noderesourcetopologies.topology.node.k8s.io"
	// Devices are the devices of nodes.
	Devices Input = "devices.scheduling.koordinator.sh"
	// Quotas are the elastic quotas of the cluster.
	Quotas Input = "elasticquotas.scheduling.sigs.k8s.io"
	// Configuration is what koord-manager follows.
	Configuration Input = "configmaps/slo-controller-config"
	// LastGoodConfiguration is what holds in place of keys that cannot be used.
	LastGoodConfiguration Input = "configmaps/slo-controller-config-last-good"
	// SchedulerConfiguration is what koord-scheduler was started with.
	SchedulerConfiguration Input = "configmaps/koord-scheduler-config"
	// DeschedulerConfiguration is what koord-descheduler follows.
	DeschedulerConfiguration Input = "configmaps/koord-descheduler-config"
	// AgentFeatures are the features that node agents are started with.
	AgentFeatures Input = "daemonsets.apps/koordlet"
	// Predictions are what chosen predictors make of the past of pods, which koord-manager alone keeps.
	Predictions Input = "predictions"
	// Workloads are what Kueue admits.
	Workloads Input = "workloads.kueue.x-k8s.io"
)

// names of inputs in a sentence.
var names = map[Input]string{
	Nodes: "the nodes", Pods: "the pods", Events: "the events", NodeMetrics: "the NodeMetrics", NodeSLOs: "the NodeSLOs",
	Topologies: "the NodeResourceTopologies", Devices: "the Devices", Quotas: "the ElasticQuotas",
	Configuration: "slo-controller-config", LastGoodConfiguration: "slo-controller-config-last-good", SchedulerConfiguration: "koord-scheduler-config",
	DeschedulerConfiguration: "koord-descheduler-config",
	AgentFeatures:            "the features of koordlet", Predictions: "the predictions of koord-manager",
	Workloads: "the Workloads of Kueue",
}

// Cause is why an input could not be read.
type Cause struct {
	Reason diagnosticsv1alpha1.UnknownReason
	// Message is the error.
	Message string
}

// Inputs are those that could not be read, with why. The zero value is none.
type Inputs map[Input]Cause

// Has says whether any of the inputs could not be read.
func (in Inputs) Has(inputs ...Input) bool { return in.Because(inputs...) != "" }

// Because says of the first of the inputs that could not be read that it could not, such as "no permission to read the pods";
// empty when all were read.
func (in Inputs) Because(inputs ...Input) string {
	for _, input := range inputs {
		cause, missing := in[input]
		if !missing {
			continue
		}
		switch cause.Reason {
		case diagnosticsv1alpha1.UnknownForbidden:
			return "no permission to read " + names[input]
		case diagnosticsv1alpha1.UnknownNotAvailable:
			return names[input] + " are not available"
		}
		return names[input] + " could not be read"
	}
	return ""
}

// List is the inputs as a result carries them, ordered by name.
func (in Inputs) List() []diagnosticsv1alpha1.UnknownInput {
	var out []diagnosticsv1alpha1.UnknownInput
	for _, input := range slices.Sorted(maps.Keys(in)) {
		out = append(out, diagnosticsv1alpha1.UnknownInput{Input: string(input), Reason: in[input].Reason, Message: in[input].Message})
	}
	return out
}

// Of is the inputs that a result carries.
func Of(list []diagnosticsv1alpha1.UnknownInput) Inputs {
	if len(list) == 0 {
		return nil
	}
	out := make(Inputs, len(list))
	for _, input := range list {
		out[Input(input.Input)] = Cause{Reason: input.Reason, Message: input.Message}
	}
	return out
}
