package server

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
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
	"koordinator.sh/koord/runtimeproxy/hookapi"
)

const (
	container = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	shares    = "kubepods/besteffort/podu1/" + container + "/cpu.weight"
)

// serve starts a server for a kernel with the cgroup of one container, and returns a client.
func serve(t *testing.T) (*hookapi.Client, *kernelfs.Tree, Options) {
	t.Helper()
	layout := cgroup.Layout{Version: cgroup.V2, Driver: cgroup.Cgroupfs}
	kernel := kernelfs.New(cgroup.V2, cpuset.Of(0, 1))
	kernel.Make(layout.Pod(corev1.PodQOSBestEffort, "u1") + "/" + container)
	features := []qos.Feature{qos.CPUSetAllocator{}, qos.BatchResource{}}
	writer, err := executor.New(executor.Options{
		Tree: kernel, Layout: layout, Owners: qos.Owners(features), Originals: checkpoint.File{Path: filepath.Join(t.TempDir(), "o")}, Audit: audit.NewLog(10), Clock: clock.RealClock{},
	})
	if err != nil {
		t.Fatal(err)
	}
	directory, err := os.MkdirTemp("", "hs") // the paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	options := Options{
		Advisor:  hooks.NewAdvisor(hooks.Options{Executor: writer, Features: features, Clock: clock.RealClock{}, Injection: hooks.Injection{GPUs: true, OOMScore: true}}),
		Endpoint: filepath.Join(directory, "sub", "s.sock"), Directory: filepath.Join(directory, "hooks"), Policy: hookapi.Ignore,
	}
	options.Advisor.Observe(qos.NodeSnapshot{Tree: kernel, Layout: layout, Now: time.Now(), SLO: &slov1alpha1.NodeSLOSpec{}, Pods: []*state.Pod{told()}})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, options) }()
	connection, err := grpc.NewClient("unix:"+options.Endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = connection.Close() // it is only the test's
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(options.Directory, registration)); !os.IsNotExist(err) {
			t.Errorf("the registration is there still: %v", err)
		}
	})
	return hookapi.NewClient(connection), kernel, options
}

func request() *hookapi.ContainerResourceHookRequest {
	return &hookapi.ContainerResourceHookRequest{
		PodMeta: &hookapi.PodSandboxMetadata{Name: "p", Namespace: "ns", Uid: "u1"}, ContainerMata: &hookapi.ContainerMetadata{Name: "main", Id: container},
		PodLabels: map[string]string{extension.LabelPodQoS: "BE"}, PodCgroupParent: "/kubepods/besteffort/podu1",
		PodAnnotations: map[string]string{
			extension.AnnotationExtendedResourceSpec: `{"containers":{"main":{"requests":{"kubernetes.io/batch-cpu":"500"},"limits":{"kubernetes.io/batch-cpu":"500"}}}}`,
			extension.AnnotationDeviceAllocated:      `{"gpu":[{"minor":1,"resources":{}}]}`, extension.AnnotationOOMScoreAdj: "900",
		},
		ContainerResources: &hookapi.LinuxContainerResources{CpuShares: 2, CpuPeriod: 100000},
	}
}

// told is the pod as the API server reports it: it requests a GPU and half a CPU of batch.
func told() *state.Pod {
	batch := corev1.ResourceList{extension.BatchCPU: resource.MustParse("500")}
	return state.PodOf(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p", UID: "u1", Labels: map[string]string{extension.LabelPodQoS: "BE"}, Annotations: request().GetPodAnnotations(),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Limits: batch, Requests: corev1.ResourceList{extension.BatchCPU: batch[extension.BatchCPU], extension.ResourceNvidiaGPU: resource.MustParse("1")},
		}}}},
	})
}

func TestContainersGetWhatTheAgentWants(t *testing.T) {
	client, kernel, options := serve(t)
	for hook, want := range map[hookapi.Hook]*hookapi.ContainerResourceHookResponse{
		hookapi.PreCreateContainer: {
			ContainerResources: &hookapi.LinuxContainerResources{CpuQuota: 50000, CpuPeriod: 100000, OomScoreAdj: 900, Unified: map[string]string{"cpu.weight": "20"}},
			ContainerEnvs:      map[string]string{"NVIDIA_VISIBLE_DEVICES": "1"},
		},
		hookapi.PreUpdateContainerResources: {
			ContainerResources: &hookapi.LinuxContainerResources{CpuQuota: 50000, CpuPeriod: 100000, Unified: map[string]string{"cpu.weight": "20"}},
		},
		hookapi.PostStopContainer: {},
	} {
		got, err := client.Container(t.Context(), hook, request())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", hook, diff)
		}
	}
	// The server never saw this attempt before it started, so it does not know what the runtime applied.
	unknown := request()
	unknown.ContainerMata.Attempt = 1
	if _, err := client.Container(t.Context(), hookapi.PostStartContainer, unknown); err != nil {
		t.Fatal(err)
	}
	if content, err := kernel.Read(shares, nil); err != nil || string(content) != "20\n" {
		t.Errorf("after the start the weight is %q, %v", content, err)
	}
	content, err := os.ReadFile(filepath.Join(options.Directory, registration))
	if err != nil {
		t.Fatal(err)
	}
	registered, err := hookapi.ParseRegistration(content)
	if err != nil || registered.Endpoint != options.Endpoint || registered.Policy != hookapi.Ignore {
		t.Errorf("registration %+v, %v", registered, err)
	}
}

func TestAPodGetsItsValuesBeforeItsContainers(t *testing.T) {
	client, kernel, _ := serve(t)
	before := kernel.Dump()
	r := request()
	pod := &hookapi.PodSandboxHookRequest{PodMeta: r.PodMeta, Labels: r.PodLabels, Annotations: r.PodAnnotations, CgroupParent: r.PodCgroupParent}
	if _, err := client.Pod(t.Context(), hookapi.PreRunPodSandbox, pod); err != nil {
		t.Fatal(err)
	}
	if content, err := kernel.Read("kubepods/besteffort/podu1/cpu.max", nil); err != nil || string(content) != "50000 100000\n" {
		t.Errorf("the pod's quota is %q, %v", content, err)
	}
	if _, err := client.Pod(t.Context(), hookapi.PostStopPodSandbox, pod); err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(before, kernel.Dump()) {
		t.Error("nothing was set")
	}
}

func TestRequestsThatSayNothingAreAnswered(t *testing.T) {
	client, _, _ := serve(t)
	for _, hook := range hookapi.Hooks() {
		var err error
		if hook.OfPod() {
			_, err = client.Pod(t.Context(), hook, &hookapi.PodSandboxHookRequest{})
		} else {
			_, err = client.Container(t.Context(), hook, &hookapi.ContainerResourceHookRequest{})
		}
		if err != nil {
			t.Errorf("%s: %v", hook, err)
		}
	}
}
