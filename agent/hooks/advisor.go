package hooks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// pendingTimeout is how long values are kept for pods and containers that the API server does not know.
const pendingTimeout = 2 * time.Minute

// Options of an Advisor.
type Options struct {
	// Executor writes what runtimes cannot.
	Executor *executor.Executor
	// Injection is what containers are given beside cgroup values.
	Injection Injection
	// Snapshot to begin with: what is known before the API server was read. Tree, Layout and Sys must be set.
	Snapshot qos.NodeSnapshot
	// Features that are on.
	Features []qos.Feature
	Clock    clock.PassiveClock
	// Observe records how long a container runtime waited for an answer; nil records nothing.
	Observe func(stage Stage, took time.Duration)
}

// Stage of the life of a pod or container at which a runtime asks.
type Stage string

// Stages. PreCreateContainer is also what a container gets that kubelet changes later.
const (
	PreRunPodSandbox   Stage = "PreRunPodSandbox"
	PreCreateContainer Stage = "PreCreateContainer"
	PreStartContainer  Stage = "PreStartContainer"
)

// Advisor answers runtimes. All methods may be called at the same time.
type Advisor struct {
	options Options
	view    atomic.Pointer[view]

	// gpus and rdma count the containers that were given devices of a kind.
	gpus, rdma atomic.Int64

	mu sync.Mutex
	// pending is what was anticipated, by cgroup.
	pending map[string]pendingTarget
}

// view is what was known at the latest reading of the machine.
type view struct {
	in       qos.NodeSnapshot
	features []qos.Feature
	pods     map[types.UID]*state.Pod
}

// pendingTarget is of a pod, or of a container of one.
type pendingTarget struct {
	pod       types.UID
	container string
	at        time.Time
}

// NewAdvisor returns an Advisor that knows what the options say.
func NewAdvisor(options Options) *Advisor {
	a := &Advisor{options: options, pending: map[string]pendingTarget{}}
	if options.Snapshot.SLO == nil {
		options.Snapshot.SLO = &slov1alpha1.NodeSLOSpec{}
	}
	a.view.Store(&view{in: options.Snapshot, features: qos.ForNewContainers(options.Features)})
	return a
}

// Observe takes what is known from here on. It must be called where the features are used, after them.
func (a *Advisor) Observe(in qos.NodeSnapshot) {
	pods := make(map[types.UID]*state.Pod, len(in.Pods))
	for _, pod := range in.Pods {
		pods[pod.UID] = pod
	}
	a.view.Store(&view{in: in, features: qos.ForNewContainers(a.options.Features), pods: pods})
	a.mu.Lock()
	defer a.mu.Unlock()
	for at, pending := range a.pending {
		if a.options.Clock.Since(pending.at) >= pendingTimeout || known(pods[pending.pod], pending.container) {
			delete(a.pending, at)
			a.options.Executor.DeclarePending(at, nil)
		}
	}
}

// known reports whether features see that a pod runs, and a container of it.
func known(pod *state.Pod, container string) bool {
	if pod == nil || !pod.Running() {
		return false
	}
	has := func(status corev1.ContainerStatus) bool {
		return status.State.Running != nil && strings.HasSuffix(status.ContainerID, "://"+container)
	}
	return container == "" || slices.ContainsFunc(pod.Object.Status.ContainerStatuses, has) || slices.ContainsFunc(pod.Object.Status.InitContainerStatuses, has)
}

// pod that a sandbox is of: as the API server has it, or made of the sandbox alone.
func (v *view) pod(sandbox Sandbox) (pod *state.Pod, known bool) {
	if pod = v.pods[types.UID(sandbox.UID)]; pod != nil {
		return pod, true
	}
	return sandbox.Pod(v.in.Layout), false
}

// measure the time of an answer, until what it returns is called.
func (a *Advisor) measure(stage Stage) func() {
	if a.options.Observe == nil {
		return func() {}
	}
	asked := a.options.Clock.Now()
	return func() { a.options.Observe(stage, a.options.Clock.Since(asked)) }
}

// Pod sets what the features want of the cgroup of a pod, which must be there.
func (a *Advisor) Pod(ctx context.Context, sandbox Sandbox) {
	defer a.measure(PreRunPodSandbox)()
	v := a.view.Load()
	pod, _ := v.pod(sandbox)
	at := v.in.Layout.Pod(pod.Class(), pod.UID)
	if a.declarePending(at, qos.DesiredForNewPod(v.in, v.features, pod), pendingTarget{pod: pod.UID}) {
		a.apply(ctx, at)
	}
}

// Injected is to how many containers devices were given since the Advisor was made, by the name of the gate.
func (a *Advisor) Injected(gate string) int64 {
	switch gate {
	case nodefeature.GPUEnvInject.Name:
		return a.gpus.Load()
	case nodefeature.RDMADeviceInject.Name:
		return a.rdma.Load()
	}
	return 0
}

// Container decides what a container gets. ID may be empty where the runtime has not made one yet.
func (a *Advisor) Container(ctx context.Context, sandbox Sandbox, name, id string) Adjustment {
	defer a.measure(PreCreateContainer)()
	v := a.view.Load()
	pod, reported := v.pod(sandbox)
	at := path.Join(v.in.Layout.Pod(pod.Class(), pod.UID), "new")
	out := AdjustmentOf(v.in, v.features, a.options.Injection, pod, qos.Container{Name: name, ID: id, Cgroup: at})
	if injects := a.options.Injection.GPUs || a.options.Injection.RDMA; injects && !reported && sandbox.Annotations[extension.AnnotationDeviceAllocated] != "" {
		out.Refused = fmt.Errorf("devices of pod %s/%s cannot be injected yet: koordlet has not received the pod from the API server", sandbox.Namespace, sandbox.Name)
	}
	if out.Env[envVisibleGPUs] != "" {
		a.gpus.Add(1)
	}
	if len(out.Devices) > 0 {
		a.rdma.Add(1)
	}
	if err := errors.Join(out.Problems...); err != nil {
		klog.FromContext(ctx).Error(err, "Failed to apply some values to a new container", "pod", klog.KRef(sandbox.Namespace, sandbox.Name), "container", name)
	}
	return out
}

// Started sets what the features want of the cgroup of a container, which must be there, where the runtime could not. Where it could, and
// requested is what kubelet asked for before the features did, nothing waits for the disk: the agent's next round verifies the values.
// The cgroup's directory is looked for where it is empty. What was requested is restored when the agent stops; nil restores what is there now.
func (a *Advisor) Started(ctx context.Context, sandbox Sandbox, name, id, directory string, requested *Resources) {
	defer a.measure(PreStartContainer)()
	v := a.view.Load()
	pod, _ := v.pod(sandbox)
	at := v.in.Layout.Pod(pod.Class(), pod.UID)
	if directory == "" {
		directory = v.find(at, id)
	}
	if directory == "" {
		return // it has no cgroup, or has ended
	}
	at = path.Join(at, directory)
	adjustment := AdjustmentOf(v.in, v.features, Injection{}, pod, qos.Container{Name: name, ID: id, Cgroup: at})
	for _, own := range adjustment.DesiredValues {
		for i := range own {
			if original := requested.original(v, own[i].Setting); original != "" {
				own[i].Inherited = original
			}
		}
	}
	if a.declarePending(at, adjustment.DesiredValues, pendingTarget{pod: pod.UID, container: id}) && (adjustment.Partial || requested == nil) {
		a.apply(ctx, at)
	}
}

// find the directory of a container's cgroup in that of its pod; empty where there is none.
func (v *view) find(pod, id string) string {
	names, err := v.in.Tree.Directories(v.in.Layout.Directory(cgroup.CPUStat, pod))
	if err != nil {
		return ""
	}
	index := slices.IndexFunc(names, func(name string) bool {
		found, is := v.in.Layout.ContainerOf(name)
		return is && found == id
	})
	if index < 0 {
		return ""
	}
	return names[index]
}

// Forget ends what was anticipated for a pod.
func (a *Advisor) Forget(uid string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.pending, func(at string, pending pendingTarget) bool {
		if string(pending.pod) != uid {
			return false
		}
		a.options.Executor.DeclarePending(at, nil)
		return true
	})
}

// declarePending what the features want of a cgroup; false for nothing.
func (a *Advisor) declarePending(at string, values map[string][]executor.DesiredValue, pending pendingTarget) bool {
	if len(values) == 0 {
		return false
	}
	pending.at = a.options.Clock.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending[at] = pending
	a.options.Executor.DeclarePending(at, values)
	return true
}

// apply what is anticipated.
func (a *Advisor) apply(ctx context.Context, at string) {
	if outcome, err := a.options.Executor.Apply(ctx); err != nil || outcome.Err() != nil {
		klog.FromContext(ctx).V(2).Info("Failed to apply some values before a container started, will retry", "cgroup", at, "err", errors.Join(err, outcome.Err()))
	}
}
