package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// period of the agent's rounds.
const period = time.Second

// agent is the part of the node's agent that decides about cgroups and writes them.
type agent struct {
	machine  *machine
	advisor  *hooks.Advisor
	executor *executor.Executor
	features []qos.Feature
	snapshot qos.NodeSnapshot

	cancel context.CancelFunc
	group  sync.WaitGroup
	forget func() error
	mu     sync.Mutex
	err    error
}

// startAgent makes the pods that run already, and does a round of the features over them every second until it is stopped.
func startAgent(ctx context.Context, o options, m *machine) (*agent, error) {
	directory, forget, err := stateDirectory(o)
	if err != nil {
		return nil, err
	}
	a := &agent{machine: m, forget: forget, features: []qos.Feature{qos.CPUSetAllocator{}, qos.GroupIdentity{}, qos.BatchResource{}, qos.NewCPUBurst()}}
	a.executor, err = executor.New(executor.Options{
		Tree: m.tree, Layout: m.layout, Owners: qos.Owners(a.features), Originals: checkpoint.File{Path: filepath.Join(directory, "originals.json")},
		Audit: audit.NewLog(8192), Clock: clock.RealClock{},
	})
	if err != nil {
		return nil, errors.Join(err, forget())
	}
	a.snapshot = a.describe()
	for i := range o.pods {
		if err := a.place(i); err != nil {
			return nil, errors.Join(err, forget())
		}
	}
	a.advisor = hooks.NewAdvisor(hooks.Options{Executor: a.executor, Snapshot: a.snapshot, Features: a.features, Clock: clock.RealClock{}})
	a.round(ctx)
	if a.err != nil {
		return nil, errors.Join(a.err, a.stop())
	}
	ctx, a.cancel = context.WithCancel(ctx)
	a.group.Go(func() {
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				a.round(ctx)
			}
		}
	})
	return a, nil
}

// describe a node that has everything on that is decided when a container starts.
func (a *agent) describe() qos.NodeSnapshot {
	yields := int64(-1)
	return qos.NodeSnapshot{
		Now: time.Now(), Period: period, Used: func() (metrics.Usage, bool) { return metrics.Usage{}, false }, Tree: a.machine.tree, Layout: a.machine.layout, Containers: qos.NewContainers(a.machine.tree, a.machine.layout),
		SLO: &slov1alpha1.NodeSLOSpec{
			CPUBurstStrategy: &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstOnly, CPUBurstPercent: new(int64(100))}},
			ResourceQOSStrategy: &slov1alpha1.ResourceQOSStrategy{
				BEClass: &slov1alpha1.ResourceQOS{CPUQOS: &slov1alpha1.CPUQOSCfg{Enable: new(true), CPUQOS: slov1alpha1.CPUQOS{GroupIdentity: &yields}}},
			},
		},
		Reported: &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			extension.AnnotationNodeCPUSharedPools: `[{"socket":0,"node":0,"cpuset":"0"}]`,
		}}},
	}
}

// place a pod of two containers that runs: every second is a batch pod, the others are services with limits.
func (a *agent) place(number int) error {
	name := fmt.Sprintf("placed-%04d", number)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{extension.LabelPodQoS: "LS"}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable},
	}
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	if number%2 == 0 {
		pod.Labels[extension.LabelPodQoS], pod.Status.QOSClass = "BE", corev1.PodQOSBestEffort
		limits = corev1.ResourceList{"kubernetes.io/batch-cpu": resource.MustParse("500"), "kubernetes.io/batch-memory": resource.MustParse("1Gi")}
	}
	at := a.machine.layout.Pod(pod.Status.QOSClass, pod.UID)
	problems := []error{a.machine.make(at)}
	for _, container := range []string{"one", "two"} {
		id := idOf(name, container)
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: container, Resources: corev1.ResourceRequirements{Requests: limits, Limits: limits}})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container, ContainerID: "containerd://" + id, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		})
		problems = append(problems, a.machine.make(at+"/"+id))
	}
	a.snapshot.Pods = append(a.snapshot.Pods, state.PodOf(pod))
	return errors.Join(problems...)
}

// round is what the agent does after a reading of the machine.
func (a *agent) round(ctx context.Context) {
	in := a.snapshot
	in.Now = time.Now()
	var problems []error
	for _, feature := range a.features {
		problems = append(problems, a.executor.Declare(feature.Name(), feature.DesiredValues(in)))
	}
	a.advisor.Observe(in)
	outcome, err := a.executor.Apply(ctx)
	if ctx.Err() != nil {
		return
	}
	if err := errors.Join(append(problems, outcome.Err(), err)...); err != nil {
		a.mu.Lock()
		a.err = fmt.Errorf("a round of the agent: %w", err)
		a.mu.Unlock()
	}
}

// stop ends the rounds, and returns what went wrong in one.
func (a *agent) stop() error {
	if a.cancel != nil {
		a.cancel()
	}
	a.group.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Join(a.err, a.forget())
}
