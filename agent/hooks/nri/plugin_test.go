package nri

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/hooks"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
)

// runtimes starts the part of a runtime that NRI is in it, with two containers that were there before, of which one runs.
func runtimes(t *testing.T, directory string, synchronized chan<- []*api.ContainerUpdate) *adaptation.Adaptation {
	t.Helper()
	pod, container := pods()
	container.State = api.ContainerState_CONTAINER_CREATED
	_, running := pods()
	running.Id, running.State = "r", api.ContainerState_CONTAINER_RUNNING
	runtime, err := adaptation.New("test", "2.4.2",
		func(ctx context.Context, call adaptation.SyncCB) error {
			updates, err := call(ctx, []*api.PodSandbox{pod}, []*api.Container{container, running})
			if len(updates) > 0 { // the library asks once before any plugin has connected
				synchronized <- updates
			}
			return err
		},
		func(context.Context, []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) { return nil, nil },
		adaptation.WithSocketPath(filepath.Join(directory, "n.sock")), adaptation.WithPluginPath(filepath.Join(directory, "p")),
		adaptation.WithPluginConfigPath(filepath.Join(directory, "c")))
	if err != nil {
		t.Fatal(err)
	}
	if err := runtime.Start(); err != nil {
		t.Fatal(err)
	}
	return runtime
}

// pods is a batch pod that only the runtime has reported, with a container as kubelet requests it.
func pods() (*api.PodSandbox, *api.Container) {
	return &api.PodSandbox{
			Id: "s", Uid: "u1", Name: "p", Namespace: "ns", Labels: map[string]string{extension.LabelPodQoS: "BE"},
			Annotations: map[string]string{
				extension.AnnotationExtendedResourceSpec: `{"containers":{"main":{"requests":{"kubernetes.io/batch-cpu":"500"},"limits":{"kubernetes.io/batch-cpu":"500"}}}}`,
				extension.AnnotationDeviceAllocated:      `{"gpu":[{"minor":1,"resources":{}}]}`, extension.AnnotationOOMScoreAdj: "900",
			},
			Linux: &api.LinuxPodSandbox{CgroupParent: "/kubepods/besteffort/podu1"},
		}, &api.Container{
			Id: "c", PodSandboxId: "s", Name: "main", Linux: &api.LinuxContainer{
				CgroupsPath: "/kubepods/besteffort/podu1/c", Resources: &api.LinuxResources{Cpu: &api.LinuxCPU{Shares: api.UInt64(2), Period: api.UInt64(100000)}},
			},
		}
}

// told is the pod as the API server reports it: it requests a GPU and half a CPU of batch.
func told() *state.Pod {
	sandbox, _ := pods()
	batch := corev1.ResourceList{extension.BatchCPU: resource.MustParse("500")}
	return state.PodOf(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p", UID: "u1", Labels: map[string]string{extension.LabelPodQoS: "BE"}, Annotations: sandbox.GetAnnotations(),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Limits: batch, Requests: corev1.ResourceList{extension.BatchCPU: batch[extension.BatchCPU], extension.ResourceNvidiaGPU: resource.MustParse("1")},
		}}}},
	})
}

func TestARuntimeIsAnswered(t *testing.T) {
	layout := cgroup.Layout{Version: cgroup.V1, Driver: cgroup.Cgroupfs}
	kernel := kernelfs.New(cgroup.V1, cpuset.Of(0, 1))
	kernel.Make("kubepods/besteffort/podu1/c")
	features := []qos.Feature{qos.BatchResource{}}
	writer, err := executor.New(executor.Options{
		Tree: kernel, Layout: layout, Owners: qos.Owners(features), Originals: checkpoint.File{Path: filepath.Join(t.TempDir(), "o")}, Audit: audit.NewLog(10), Clock: clock.RealClock{},
	})
	if err != nil {
		t.Fatal(err)
	}
	directory, err := os.MkdirTemp("", "nri") // the paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	advisor := hooks.NewAdvisor(hooks.Options{Executor: writer, Features: features, Clock: clock.RealClock{}, Injection: hooks.Injection{GPUs: true, OOMScore: true}})
	advisor.Observe(qos.NodeSnapshot{Tree: kernel, Layout: layout, Now: time.Now(), SLO: &slov1alpha1.NodeSLOSpec{}, Pods: []*state.Pod{told()}})
	go func() {
		defer close(ended)
		Run(ctx, Options{Socket: filepath.Join(directory, "n.sock"), Clock: clock.RealClock{}, Advisor: advisor})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	synchronized := make(chan []*api.ContainerUpdate, 8)
	runtime := runtimes(t, directory, synchronized)
	defer runtime.Stop()
	select {
	case updates := <-synchronized:
		want := []*api.ContainerUpdate{{ContainerId: "c", IgnoreFailure: true, Linux: &api.LinuxContainerUpdate{Resources: &api.LinuxResources{
			Cpu: &api.LinuxCPU{Shares: api.UInt64(512), Quota: api.Int64(50000), Period: api.UInt64(100000)},
		}}}}
		if diff := cmp.Diff(want, updates, protocmp.Transform()); diff != "" {
			t.Errorf("what was there before (-want +got):\n%s", diff)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the plugin has not connected")
	}
	wantAnswers(t, runtime, kernel)
}

func wantAnswers(t *testing.T, runtime *adaptation.Adaptation, kernel *kernelfs.Tree) {
	t.Helper()
	pod, container := pods()
	runtime.BlockPluginSync().Unblock() // when the plugin is among those that are called
	if err := runtime.RunPodSandbox(t.Context(), &api.RunPodSandboxRequest{Pod: pod}); err != nil {
		t.Fatal(err)
	}
	if content, err := kernel.Read("cpu/kubepods/besteffort/podu1/cpu.cfs_quota_us", nil); err != nil || string(content) != "50000\n" {
		t.Errorf("the pod's quota is %q, %v", content, err)
	}
	created, err := runtime.CreateContainer(t.Context(), &api.CreateContainerRequest{Pod: pod, Container: container})
	if err != nil {
		t.Fatal(err)
	}
	want := &api.ContainerAdjustment{
		Env: []*api.KeyValue{{Key: "NVIDIA_VISIBLE_DEVICES", Value: "1"}},
		Linux: &api.LinuxContainerAdjustment{OomScoreAdj: &api.OptionalInt{Value: 900}, Resources: &api.LinuxResources{
			Cpu: &api.LinuxCPU{Shares: api.UInt64(512), Quota: api.Int64(50000), Period: api.UInt64(100000)},
		}},
	}
	ignored := protocmp.FilterField(&api.LinuxResources{}, "memory", protocmp.IgnoreEmptyMessages())
	got := &api.ContainerAdjustment{Env: created.GetAdjust().GetEnv(), Linux: &api.LinuxContainerAdjustment{
		OomScoreAdj: created.GetAdjust().GetLinux().GetOomScoreAdj(), Resources: created.GetAdjust().GetLinux().GetResources(),
	}}
	if diff := cmp.Diff(want, got, protocmp.Transform(), ignored, protocmp.IgnoreEmptyMessages()); diff != "" {
		t.Errorf("a new container (-want +got):\n%s", diff)
	}
	if err := runtime.StartContainer(t.Context(), &api.StartContainerRequest{Pod: pod, Container: container}); err != nil {
		t.Error(err)
	}
	updated, err := runtime.UpdateContainer(t.Context(), &api.UpdateContainerRequest{
		Pod: pod, Container: container, LinuxResources: &api.LinuxResources{Cpu: &api.LinuxCPU{Shares: api.UInt64(4)}},
	})
	if err != nil || len(updated.GetUpdate()) != 1 || updated.GetUpdate()[0].GetLinux().GetResources().GetCpu().GetShares().GetValue() != 512 {
		t.Errorf("an update is answered %v, %v; want the shares of the agent", updated, err)
	}
	if err := runtime.RemovePodSandbox(t.Context(), &api.RemovePodSandboxRequest{Pod: pod}); err != nil {
		t.Error(err)
	}
}
