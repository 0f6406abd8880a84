package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/bench/node"
	"koordinator.sh/koord/sandbox/workload"
)

// situation is what runs beside the service.
type situation struct {
	name string
	// job is the batch job; nil for none.
	job func() *corev1.Pod
	// threshold is the share of the node's CPU that best-effort pods may fill it up to, in percent; 0 where no agent manages the node.
	threshold int
}

// situations in the order in which they are measured.
var situations = []situation{
	{name: "alone"},
	{name: "unmanaged", job: unmanaged},
	{name: "best effort", job: bestEffort},
	{name: "managed", job: managed, threshold: 65}, // as it is by default
	{name: "managed to 50 %", job: managed, threshold: 50},
	{name: "managed to 45 %", job: managed, threshold: 45},
}

// warmUp is how long everything runs before it is measured.
const warmUp = 10 * time.Second

// keepAll makes the job want every CPU of the machine.
func keepAll() string { return "-cpus=" + strconv.Itoa(runtime.NumCPU()) }

// unmanaged is the job as people run it without co-location: an ordinary pod that requests a part of what it takes.
func unmanaged() *corev1.Pod {
	return node.Pod("job", node.Container("main", requests("500m", "64Mi"), keepAll()))
}

// bestEffort is the lowest class of Kubernetes: a pod without requests, which nothing restricts.
func bestEffort() *corev1.Pod {
	return node.Pod("job", node.Container("main", corev1.ResourceRequirements{}, keepAll()))
}

// managed is the same job as a best-effort pod of Koordinator's. It declares no limit: Koordinator decides what it gets.
func managed() *corev1.Pod {
	pod := bestEffort()
	pod.Labels[extension.LabelPodQoS] = string(extension.QoSBE)
	pod.Spec.PriorityClassName = string(extension.PriorityBatch)
	return pod
}

// service is the server that the requests go to.
func service() *corev1.Pod {
	pod := node.Pod("service", node.Container("main", requests("500m", "64Mi"),
		"-listen=:8080", "-cpu-per-request="+perRequest.String()))
	pod.Labels[extension.LabelPodQoS] = string(extension.QoSLS)
	pod.Spec.PriorityClassName = string(extension.PriorityProd)
	return pod
}

// perRequest is the CPU time of one request.
const perRequest = 5 * time.Millisecond

func requests(cpu, memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}}
}

// configuration of the node, with the strategies on when there is a threshold.
func configuration(threshold int) map[string]any {
	on := threshold > 0
	class := func(identity int) map[string]any {
		return map[string]any{"cpuQOS": map[string]any{"enable": on, "groupIdentity": identity}}
	}
	burst, suppress := "none", map[string]any{"enable": on}
	if on {
		burst = "auto"
		suppress["cpuSuppressThresholdPercent"], suppress["cpuSuppressPolicy"] = threshold, "cfsQuota"
	}
	return map[string]any{
		"resource-threshold-config": map[string]any{"clusterStrategy": suppress},
		"resource-qos-config":       map[string]any{"clusterStrategy": map[string]any{"lsClass": class(2), "beClass": class(-1)}},
		"cpu-burst-config":          map[string]any{"clusterStrategy": map[string]any{"policy": burst}},
	}
}

// bench is a node with a service.
type bench struct {
	options
	node   *node.Node
	target string
	rounds map[string][]round
}

func newBench(ctx context.Context, n *node.Node, o options) (*bench, error) {
	pods, err := n.Create(ctx, service())
	if err != nil {
		return nil, err
	}
	return &bench{options: o, node: n, target: fmt.Sprintf("http://%s:8080/", pods[0].Status.PodIP), rounds: map[string][]round{}}, nil
}

// measure takes the figures of one round of a situation.
func (b *bench) measure(ctx context.Context, s *situation) (err error) {
	if err := b.node.Configure(ctx, configuration(s.threshold)); err != nil {
		return err
	}
	if s.job != nil {
		job := s.job()
		if _, err := b.node.Create(ctx, job); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.node.Delete(context.WithoutCancel(ctx), job)) }()
	}
	if _, err := workload.Send(ctx, b.target, b.rate, warmUp); err != nil {
		return err
	}
	before, err := workload.MachineCPUTime()
	if err != nil {
		return err
	}
	took, err := workload.Send(ctx, b.target, b.rate, b.duration)
	if err != nil {
		return err
	}
	after, err := workload.MachineCPUTime()
	if err != nil {
		return err
	}
	b.rounds[s.name] = append(b.rounds[s.name], round{Took: took, Used: after.Since(before)})
	return nil
}
