package fleet

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/qos"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/agentview"
)

// imitatedLayout is that of most machines: kubelet's defaults on cgroups of version 2.
var imitatedLayout = cgroup.Layout{Version: cgroup.V2, Driver: cgroup.Systemd}

// imitated says in an answer that its values were set on a simulated kernel.
const imitated = "values are those that a newly started koordlet sets in simulated cgroups"

// auditOfAnImitation is how many entries of a simulated agent's audit log are kept.
const auditOfAnImitation = 1

// simulatedAgent is the cgroups of a node as kubelet makes them, in memory, and an agent's features at work on them: the same features, the
// same executor, and a kernel that refuses what a kernel refuses. It is made for one answer.
type simulatedAgent struct {
	kernel   *kernelfs.Tree
	features []qos.Feature
	executor *executor.Executor
	in       qos.NodeSnapshot
}

// newSimulatedAgent has the features that are on by default set what they want on a machine.
func newSimulatedAgent(ctx context.Context, f *fleet, view *agentview.Node, machine host.Topology, capacity podrequest.Amount) (*simulatedAgent, error) {
	topology, err := cpuset.NewTopology(&extension.CPUTopology{Detail: machine.CPUs})
	if err != nil {
		return nil, fmt.Errorf("imitate the machine: %w", err)
	}
	kernel := kernelfs.New(imitatedLayout.Version, topology.CPUs)
	for _, class := range []corev1.PodQOSClass{corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
		kernel.Make(imitatedLayout.QoS(class)) // kubelet has them with and without pods
	}
	out := &simulatedAgent{kernel: kernel, features: qos.Defaults(&qos.Suppression{}, &qos.CPUBurst{Fill: func() float64 { return 0 }})}
	out.in = qos.NodeSnapshot{
		Now: view.Now, Period: f.opts.SamplePeriod, SLO: cmp.Or(view.SLO, &slov1alpha1.NodeSLOSpec{}), Node: view.Object, Capacity: capacity, Topology: topology,
		Reported: view.Topology, Tree: kernel, Layout: imitatedLayout, Containers: qos.NewContainers(kernel, imitatedLayout),
		Proc: kernelfs.NewMachine(), Sys: kernelfs.NewMachine(), Audit: audit.NewLog(auditOfAnImitation),
	}
	out.measured(view)
	for _, pod := range view.Pods {
		out.start(pod)
	}
	out.executor, err = executor.New(executor.Options{
		Tree: kernel, Proc: out.in.Proc, Sys: out.in.Sys, Layout: imitatedLayout, Owners: qos.Owners(out.features), Originals: discardStore{},
		Audit: out.in.Audit, Clock: f.opts.Clock,
	})
	if err != nil {
		return nil, fmt.Errorf("imitate the agent: %w", err)
	}
	return out, out.apply(ctx)
}

// measured takes what a view knows of use.
func (i *simulatedAgent) measured(view *agentview.Node) {
	used := map[types.UID]podrequest.Amount{}
	for _, pod := range view.Pods {
		if view.PodUsed == nil {
			break
		}
		if amount, measured := view.PodUsed(pod); measured {
			used[pod.UID] = amount
		}
	}
	i.in.Used = func() (metrics.Usage, bool) { return amountUsed(view.Used), !view.Observation.At.IsZero() }
	i.in.PodUsed = func(uid types.UID) (metrics.Usage, bool) {
		amount, measured := used[uid]
		return amountUsed(amount), measured
	}
}

func amountUsed(amount podrequest.Amount) metrics.Usage {
	return metrics.Usage{NanoCores: amount.MilliCPU * 1e6, Memory: amount.Memory}
}

// apply is one round of an agent. What the simulated kernel refuses shows in its files.
func (i *simulatedAgent) apply(ctx context.Context) error {
	for _, feature := range i.features {
		if err := i.executor.Declare(feature.Name(), feature.DesiredValues(i.in)); err != nil {
			return fmt.Errorf("imitate the agent: %w", err)
		}
	}
	if _, err := i.executor.Apply(ctx); err != nil {
		return fmt.Errorf("imitate the agent: %w", err)
	}
	return nil
}

// pods lists what is set for the pods of a question.
func (i *simulatedAgent) pods(question *diagnosticsv1alpha1.AgentQuestion, out *diagnosticsv1alpha1.AgentExplanation) {
	var places []diagnostics.Place
	for _, pod := range i.in.Pods {
		if diagnostics.AskedPod(question, pod.Object.Namespace, pod.Object.Name) {
			places = append(places, diagnostics.PlaceOf(imitatedLayout, pod, i.in.Containers.Of(pod, i.in.Now)))
		}
	}
	out.Pods = diagnostics.Pods(i.executor, places)
	if len(places) == 0 && question.PodName != "" {
		out.Incomplete = append(out.Incomplete, diagnostics.UnknownPod(question))
	}
	out.Cgroups = fmt.Sprintf("v%d, %s, imitated", imitatedLayout.Version, imitatedLayout.Driver)
	out.Incomplete = append(out.Incomplete, imitated)
}

// discardStore is a store for originals that are never restored.
type discardStore struct{}

// Save implements executor.Store.
func (discardStore) Save(any) error { return nil }

// Load implements executor.Store.
func (discardStore) Load(any) (bool, error) { return false, nil }
