package realnode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/hooks/nri"
	"koordinator.sh/koord/agent/hooks/server"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/runtimeproxy"
	"koordinator.sh/koord/runtimeproxy/hookapi"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestContainersStartWithTheirValues makes containers by containerd alone, without kubelet, and without a reconciler: whatever is
// set, a hook did. containerd makes the cgroup of a container when that is started, and not before.
func TestContainersStartWithTheirValues(t *testing.T) {
	r := newBareRuntime(t)
	t.Run("by NRI", func(t *testing.T) {
		connected := r.connect(t)
		batch, id := wantHooked(t, r, r.dial(t, r.socket), "nri")
		defer wantGivenBack(t, r, batch, id)
		t.Run("after containerd was killed", func(t *testing.T) {
			before := connected.Load()
			r.kill()
			r.run(t)
			sandboxtest.Eventually(t, patience, func() error {
				if connected.Load() == before {
					return fmt.Errorf("the agent has not connected again")
				}
				return nil
			})
			wantHooked(t, r, r.dial(t, r.socket), "nri-again")
		})
	})
	t.Run("by koord-runtime-proxy", func(t *testing.T) {
		batch, id := wantHooked(t, r, r.dial(t, r.proxy(t)), "proxy")
		wantGivenBack(t, r, batch, id)
	})
	t.Run("without a hook, they have what kubelet says", func(t *testing.T) {
		client := r.dial(t, r.socket)
		pod := r.makePod(t, corev1.PodQOSBestEffort, "plain")
		id := pod.create(t, client, batchLabels, batchAnnotations)
		pod.start(t, client, id)
		pod.want(t, id, map[cgroup.Setting]string{cgroup.CPUShares: "2", cgroup.CPUQuota: "-1", cgroup.MemoryLimit: "-1"})
	})
}

var (
	batchLabels      = map[string]string{extension.LabelPodQoS: "BE"}
	batchAnnotations = map[string]string{extension.AnnotationExtendedResourceSpec: `{"containers":{"main":{
		"requests":{"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"1Gi"},"limits":{"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"1Gi"}}}}`}
)

// wantGivenBack stops the agent's writing: a batch pod's container then has what kubelet had said of it, and not what a hook did.
func wantGivenBack(t *testing.T, r *bareRuntime, batch *runtimePod, id string) {
	t.Helper()
	if outcome, err := r.writer.Restore(t.Context()); err != nil || outcome.Err() != nil {
		t.Fatal(err, outcome.Err())
	}
	want := map[cgroup.Setting]string{cgroup.CPUShares: r.shares(2), cgroup.CPUQuota: "-1"}
	if swap := filepath.Join("memory", r.layout.Kubepods(), "memory.memsw.limit_in_bytes"); !r.tree.Exists(swap) {
		want[cgroup.MemoryLimit] = "-1" // with that file, what a runtime bounded cannot be lifted
	}
	batch.want(t, id, want)
}

// wantHooked makes a batch pod of which nobody but the runtime tells, a service that the API server told of, and one with a CPU
// of its own. It returns the batch pod and its container.
func wantHooked(t *testing.T, r *bareRuntime, client runtimeapi.RuntimeServiceClient, name string) (batch *runtimePod, container string) {
	batch = r.makePod(t, corev1.PodQOSBestEffort, name+"-batch")
	container = batch.create(t, client, batchLabels, batchAnnotations)
	id := container
	batch.start(t, client, id)
	batch.want(t, id, map[cgroup.Setting]string{cgroup.CPUShares: r.shares(512), cgroup.CPUQuota: "50000", cgroup.MemoryLimit: "1073741824"})
	batch.want(t, "", map[cgroup.Setting]string{cgroup.CPUQuota: "50000", cgroup.MemoryLimit: "1073741824"})
	if r.supports(cgroup.CPUIdle) {
		batch.want(t, "", map[cgroup.Setting]string{cgroup.CPUIdle: "1"})
	}

	service := r.makePod(t, corev1.PodQOSBurstable, name+"-service")
	r.tell(service, map[string]string{extension.LabelPodQoS: "LS"}, nil)
	id = service.create(t, client, map[string]string{extension.LabelPodQoS: "LS"}, nil)
	service.start(t, client, id)
	if r.supports(cgroup.CPUBurst) {
		service.want(t, id, map[cgroup.Setting]string{cgroup.CPUBurst: "100000"})
	}

	owner := r.makePod(t, corev1.PodQOSGuaranteed, name+"-owner")
	class, allocated := map[string]string{extension.LabelPodQoS: "LSR"}, map[string]string{extension.AnnotationResourceStatus: `{"cpuset":"1"}`}
	r.tell(owner, class, allocated)
	id = owner.create(t, client, class, allocated)
	owner.start(t, client, id)
	owner.want(t, id, map[cgroup.Setting]string{cgroup.CPUSet: "1"})
	_, err := client.UpdateContainerResources(t.Context(), &runtimeapi.UpdateContainerResourcesRequest{
		ContainerId: id, Linux: &runtimeapi.LinuxContainerResources{CpusetCpus: "0-1", CpuShares: 2048},
	})
	if err != nil {
		t.Fatal(err)
	}
	owner.want(t, id, map[cgroup.Setting]string{cgroup.CPUSet: "1", cgroup.CPUShares: r.shares(2048)})
	return batch, container
}

// agent is the part of the node's agent that answers hooks.
func (r *bareRuntime) agent(t *testing.T) *hooks.Advisor {
	features := []qos.Feature{qos.CPUSetAllocator{}, qos.GroupIdentity{}, qos.BatchResource{}, qos.NewCPUBurst()}
	writer, err := executor.New(executor.Options{
		Tree: r.tree, Layout: r.layout, Owners: qos.Owners(features), Originals: checkpoint.File{Path: filepath.Join(t.TempDir(), "o")},
		Audit: audit.NewLog(100), Clock: clock.RealClock{},
	})
	if err != nil {
		t.Fatal(err)
	}
	yields := int64(-1)
	r.snapshot = qos.NodeSnapshot{
		Now: time.Now(), Period: time.Second, Tree: r.tree, Layout: r.layout, SLO: &slov1alpha1.NodeSLOSpec{
			CPUBurstStrategy: &slov1alpha1.CPUBurstStrategy{CPUBurstConfig: slov1alpha1.CPUBurstConfig{Policy: slov1alpha1.CPUBurstOnly, CPUBurstPercent: new(int64(100))}},
			ResourceQOSStrategy: &slov1alpha1.ResourceQOSStrategy{
				BEClass: &slov1alpha1.ResourceQOS{CPUQOS: &slov1alpha1.CPUQOSCfg{Enable: new(true), CPUQOS: slov1alpha1.CPUQOS{GroupIdentity: &yields}}},
			},
		},
	}
	r.writer, r.advisor = writer, hooks.NewAdvisor(hooks.Options{Executor: writer, Snapshot: r.snapshot, Features: features, Clock: clock.RealClock{}})
	return r.advisor
}

// tell has the agent know a pod as the API server would, before it runs.
func (r *bareRuntime) tell(pod *runtimePod, labels, annotations map[string]string) {
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	r.snapshot.Pods = append(r.snapshot.Pods, state.PodOf(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: types.UID(pod.name), Name: pod.name, Labels: labels, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: limits, Limits: limits}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending, QOSClass: pod.class},
	}))
	r.advisor.Observe(r.snapshot)
}

// connect the agent by NRI. It counts the connections.
func (r *bareRuntime) connect(t *testing.T) *atomic.Int32 {
	ctx, cancel := context.WithCancel(context.Background())
	ended, connected := make(chan struct{}), &atomic.Int32{}
	advisor := r.agent(t)
	go func() {
		defer close(ended)
		nri.Run(ctx, nri.Options{Advisor: advisor, Socket: r.nri, Clock: clock.RealClock{}, Connected: func() { connected.Add(1) }})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	sandboxtest.Eventually(t, patience, func() error {
		if connected.Load() == 0 {
			return fmt.Errorf("the agent has not connected")
		}
		return nil
	})
	return connected
}

// proxy starts koord-runtime-proxy and the agent's server of hooks, and returns the socket for kubelet.
func (r *bareRuntime) proxy(t *testing.T) string {
	ctx, cancel := context.WithCancel(context.Background())
	options := runtimeproxy.NewOptions()
	options.Endpoint, options.RuntimeEndpoint = filepath.Join(r.directory, "proxy.sock"), r.socket
	options.HookDirectory, options.StateDirectory = filepath.Join(r.directory, "hooks"), filepath.Join(r.directory, "proxy")
	proxy, err := runtimeproxy.New(options)
	if err != nil {
		t.Fatal(err)
	}
	served, proxied := make(chan error, 1), make(chan error, 1)
	advisor := r.agent(t)
	go func() {
		served <- server.Run(ctx, server.Options{
			Advisor: advisor, Endpoint: filepath.Join(r.directory, "agent.sock"), Directory: options.HookDirectory, Policy: hookapi.Fail,
		})
	}()
	registration := filepath.Join(options.HookDirectory, "koordlet.json")
	sandboxtest.Eventually(t, patience, func() error { _, err := os.Stat(registration); return err })
	go func() { proxied <- proxy.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for _, done := range []chan error{served, proxied} {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	return options.Endpoint
}

func (r *bareRuntime) dial(t *testing.T, socket string) runtimeapi.RuntimeServiceClient {
	connection, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	client := runtimeapi.NewRuntimeServiceClient(connection)
	sandboxtest.Eventually(t, patience, func() error { _, err := client.Version(t.Context(), &runtimeapi.VersionRequest{}); return err })
	return client
}

// runtimePod is one whose cgroup is there, as kubelet would have made it.
type runtimePod struct {
	runtime    *bareRuntime
	class      corev1.PodQOSClass
	name, path string
	sandbox    string
	config     *runtimeapi.PodSandboxConfig
}

func (r *bareRuntime) makePod(t *testing.T, class corev1.PodQOSClass, name string) *runtimePod {
	pod := &runtimePod{runtime: r, class: class, name: name, path: r.layout.Pod(class, types.UID(name))}
	r.makeCgroup(t, pod.path)
	return pod
}

// create a sandbox and a container that is not started, with what kubelet says of pods without requests.
func (p *runtimePod) create(t *testing.T, client runtimeapi.RuntimeServiceClient, labels, annotations map[string]string) string {
	t.Helper()
	node := &runtimeapi.NamespaceOption{Network: runtimeapi.NamespaceMode_NODE}
	p.config = &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Name: p.name, Namespace: "default", Uid: p.name}, Labels: labels, Annotations: annotations,
		Linux: &runtimeapi.LinuxPodSandboxConfig{CgroupParent: "/" + p.path, SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{NamespaceOptions: node}},
	}
	run, err := client.RunPodSandbox(t.Context(), &runtimeapi.RunPodSandboxRequest{Config: p.config})
	if err != nil {
		t.Fatal(err)
	}
	p.sandbox = run.PodSandboxId
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, stop := client.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: p.sandbox})
		_, remove := client.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: p.sandbox})
		if stop != nil || remove != nil {
			t.Error(stop, remove)
		}
	})
	created, err := client.CreateContainer(t.Context(), &runtimeapi.CreateContainerRequest{
		PodSandboxId: p.sandbox, SandboxConfig: p.config, Config: &runtimeapi.ContainerConfig{
			Metadata: &runtimeapi.ContainerMetadata{Name: "main"}, Image: &runtimeapi.ImageSpec{Image: realnode.WorkloadImage},
			Linux: &runtimeapi.LinuxContainerConfig{
				Resources:       &runtimeapi.LinuxContainerResources{CpuShares: 2, CpuPeriod: 100000, OomScoreAdj: 1000},
				SecurityContext: &runtimeapi.LinuxContainerSecurityContext{NamespaceOptions: node},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return created.ContainerId
}

func (p *runtimePod) start(t *testing.T, client runtimeapi.RuntimeServiceClient, id string) {
	t.Helper()
	if _, err := client.StartContainer(t.Context(), &runtimeapi.StartContainerRequest{ContainerId: id}); err != nil {
		t.Fatal(err)
	}
}

// want of the cgroup of a container, or of the pod when there is no ID.
func (p *runtimePod) want(t *testing.T, id string, settings map[cgroup.Setting]string) {
	t.Helper()
	for setting, want := range settings {
		at, _ := p.runtime.layout.Path(setting, filepath.Join(p.path, id))
		content, err := p.runtime.tree.Read(at, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := setting.Decode(p.runtime.layout.Version, strings.TrimSpace(string(content))); err != nil || got != want {
			t.Errorf("%s of %s is %q, %v; want %q", setting.Name, p.name, got, err, want)
		}
	}
}
