package runtimeproxy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"koordinator.sh/koord/runtimeproxy/hookapi"
	"koordinator.sh/koord/test/eventually"
)

func aSandbox() *runtimeapi.RunPodSandboxRequest {
	return &runtimeapi.RunPodSandboxRequest{RuntimeHandler: "runc", Config: &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Name: "web", Namespace: "ns", Uid: "u1"}, Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{"note": "one"}, Linux: &runtimeapi.LinuxPodSandboxConfig{CgroupParent: "/kubepods/podu1"},
	}}
}

func aContainer() *runtimeapi.CreateContainerRequest {
	return &runtimeapi.CreateContainerRequest{PodSandboxId: "s", SandboxConfig: aSandbox().Config, Config: &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: "main"}, Envs: []*runtimeapi.KeyValue{{Key: "A", Value: []byte("1")}},
		Linux: &runtimeapi.LinuxContainerConfig{Resources: &runtimeapi.LinuxContainerResources{CpuShares: 2, MemoryLimitInBytes: 4096}},
	}}
}

func TestServersOfHooksChangeRequestsInTurn(t *testing.T) {
	r := newRig(t)
	r.start()
	first := &fakeHooks{
		pod: func(context.Context, hookapi.Hook, *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error) {
			return &hookapi.PodSandboxHookResponse{Labels: map[string]string{"first": "was here"}, CgroupParent: "/elsewhere", Resources: &hookapi.LinuxContainerResources{CpuShares: 7}}, nil
		},
		container: func(context.Context, hookapi.Hook, *hookapi.ContainerResourceHookRequest) (*hookapi.ContainerResourceHookResponse, error) {
			return &hookapi.ContainerResourceHookResponse{
				ContainerEnvs: map[string]string{"A": "2", "C": "3", "B": "4"}, ContainerAnnotations: map[string]string{"x": "y"},
				ContainerResources: &hookapi.LinuxContainerResources{CpuQuota: -1, MemoryLimitInBytes: -1, CpusetCpus: "0-1", Unified: map[string]string{"cpu.idle": "1"},
					HugepageLimits: []*hookapi.HugepageLimit{{PageSize: "2MB", Limit: 9}}},
			}, nil
		},
	}
	second := &fakeHooks{container: func(_ context.Context, _ hookapi.Hook, r *hookapi.ContainerResourceHookRequest) (*hookapi.ContainerResourceHookResponse, error) {
		return &hookapi.ContainerResourceHookResponse{ContainerEnvs: map[string]string{"SEEN": r.ContainerEnvs["A"] + r.ContainerResources.CpusetCpus}}, nil
	}}
	r.serveHooks(first, "a", hookapi.Fail, hookapi.PreRunPodSandbox, hookapi.PreCreateContainer)
	r.serveHooks(second, "b", hookapi.Fail, hookapi.PreCreateContainer)

	sandbox := aSandbox()
	if _, err := r.cri.RunPodSandbox(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	wantSandbox := aSandbox()
	wantSandbox.Config.Labels["first"], wantSandbox.Config.Linux.CgroupParent = "was here", "/elsewhere"
	wantSandbox.Config.Linux.Resources = &runtimeapi.LinuxContainerResources{CpuShares: 7}
	wantMessage(t, r, runtimeapi.RuntimeService_RunPodSandbox_FullMethodName, wantSandbox, &runtimeapi.RunPodSandboxRequest{})
	if diff := cmp.Diff(podOf(aSandbox().Config, "runc"), first.pods[hookapi.PreRunPodSandbox], protocmp.Transform()); diff != "" {
		t.Errorf("what the server was told (-want +got):\n%s", diff)
	}

	if _, err := r.cri.CreateContainer(t.Context(), aContainer()); err != nil {
		t.Fatal(err)
	}
	want := aContainer()
	want.Config.Annotations = map[string]string{"x": "y"}
	want.Config.Envs = []*runtimeapi.KeyValue{
		{Key: "A", Value: []byte("2")}, {Key: "B", Value: []byte("4")}, {Key: "C", Value: []byte("3")}, {Key: "SEEN", Value: []byte("20-1")},
	}
	want.Config.Linux.Resources = &runtimeapi.LinuxContainerResources{
		CpuShares: 2, CpuQuota: -1, MemoryLimitInBytes: -1, CpusetCpus: "0-1", Unified: map[string]string{"cpu.idle": "1"},
		HugepageLimits: []*runtimeapi.HugepageLimit{{PageSize: "2MB", Limit: 9}},
	}
	wantMessage(t, r, runtimeapi.RuntimeService_CreateContainer_FullMethodName, want, &runtimeapi.CreateContainerRequest{})
	if got := first.containers[hookapi.PreCreateContainer].PodCgroupParent; got != "/elsewhere" {
		t.Errorf("the pod's cgroup is told as %q, want the one that a hook chose", got)
	}
}

func wantMessage[T proto.Message](t *testing.T, r *rig, method string, want, got T) {
	t.Helper()
	if err := proto.Unmarshal(r.runtime.last(method), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("what the runtime got (-want +got):\n%s", diff)
	}
}

func TestWhatIsChangedKeepsFieldsOfALaterVersion(t *testing.T) {
	r := newRig(t)
	r.start()
	hooks := &fakeHooks{pod: func(context.Context, hookapi.Hook, *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error) {
		return &hookapi.PodSandboxHookResponse{Labels: map[string]string{"new": "label"}}, nil
	}}
	r.serveHooks(hooks, "a", hookapi.Fail, hookapi.PreRunPodSandbox)
	if _, err := r.raw(runtimeapi.RuntimeService_RunPodSandbox_FullMethodName, unknown(r.marshal(aSandbox()))); err != nil {
		t.Fatal(err)
	}
	var got runtimeapi.RunPodSandboxRequest
	if err := proto.Unmarshal(r.runtime.last(runtimeapi.RuntimeService_RunPodSandbox_FullMethodName), &got); err != nil {
		t.Fatal(err)
	}
	if string(got.ProtoReflect().GetUnknown()) != string(unknown(nil)) || got.Config.Labels["new"] != "label" {
		t.Errorf("the runtime got %q and labels %v", got.ProtoReflect().GetUnknown(), got.Config.Labels)
	}
}

func TestFailurePolicies(t *testing.T) {
	hang := func(ctx context.Context, _ hookapi.Hook, _ *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	refuse := func(context.Context, hookapi.Hook, *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error) {
		return nil, status.Error(codes.InvalidArgument, "no such pod")
	}
	for _, test := range []struct {
		name   string
		absent bool
		pod    func(context.Context, hookapi.Hook, *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error)
		// wantCode of a call when the policy is Fail.
		wantCode codes.Code
	}{
		{name: "a server that is away", absent: true, wantCode: codes.Unavailable},
		{name: "a server that refuses", pod: refuse, wantCode: codes.InvalidArgument},
		{name: "a server that hangs", pod: hang, wantCode: codes.DeadlineExceeded},
	} {
		for policy, wantCode := range map[hookapi.FailurePolicy]codes.Code{hookapi.Fail: test.wantCode, hookapi.Ignore: codes.OK, hookapi.None: codes.OK, "": codes.OK} {
			t.Run(test.name+", policy "+string(policy), func(t *testing.T) {
				r := newRig(t)
				r.options.HookTimeout = 50 * time.Millisecond
				r.start()
				if !test.absent {
					(&fakeHooks{pod: test.pod}).serve(t, r.path("a.sock"))
				}
				r.register("a", policy, hookapi.PreRunPodSandbox)
				_, err := r.cri.RunPodSandbox(t.Context(), aSandbox())
				if status.Code(err) != wantCode {
					t.Errorf("the call ends with %v, want %s", err, wantCode)
				}
				reached := r.runtime.last(runtimeapi.RuntimeService_RunPodSandbox_FullMethodName) != nil
				if want := wantCode == codes.OK; reached != want {
					t.Errorf("the runtime was called: %v, want %v", reached, want)
				}
			})
		}
	}
}

func TestAServerThatHangsIsNotWaitedForEveryTime(t *testing.T) {
	r := newRig(t)
	r.options.HookTimeout = 100 * time.Millisecond
	r.start()
	calls := make(chan struct{}, 100)
	hooks := &fakeHooks{pod: func(ctx context.Context, _ hookapi.Hook, _ *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error) {
		calls <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	r.serveHooks(hooks, "a", hookapi.Ignore, hookapi.PreRunPodSandbox)
	for range 20 {
		if _, err := r.cri.RunPodSandbox(t.Context(), aSandbox()); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(calls); got < 1 || got > 5 {
		t.Errorf("the server was asked %d times in 20 calls, want once in a while", got)
	}
}

func TestAServerThatRestartsIsAskedAgain(t *testing.T) {
	r := newRig(t)
	r.start()
	stop := r.serveHooks(&fakeHooks{}, "a", hookapi.Fail, hookapi.PreRunPodSandbox)
	if _, err := r.cri.RunPodSandbox(t.Context(), aSandbox()); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := r.cri.RunPodSandbox(t.Context(), aSandbox()); status.Code(err) != codes.Unavailable {
		t.Errorf("without the server, a call ends with %v", err)
	}
	again := &fakeHooks{}
	again.serve(t, r.path("a.sock"))
	eventually.True(t, "calls pass again", func() bool {
		_, err := r.cri.RunPodSandbox(t.Context(), aSandbox())
		return err == nil
	})
	if len(again.asked()) == 0 {
		t.Error("the server was not asked")
	}
}

func TestHooksOfAContainersLife(t *testing.T) {
	r := newRig(t)
	r.start()
	hooks := &fakeHooks{}
	r.serveHooks(hooks, "a", hookapi.Fail, hookapi.Hooks()...)
	live(t, r)
	if diff := cmp.Diff([]hookapi.Hook{
		hookapi.PreRunPodSandbox, hookapi.PreCreateContainer, hookapi.PreStartContainer, hookapi.PostStartContainer,
		hookapi.PreUpdateContainerResources, hookapi.PostStopContainer, hookapi.PostStopPodSandbox,
	}, hooks.asked()); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	stopped := hooks.containers[hookapi.PostStopContainer]
	if stopped.ContainerMata.Id != "c" || stopped.PodMeta.Uid != "u1" || stopped.PodLabels["app"] != "web" || stopped.ContainerEnvs["A"] != "1" ||
		stopped.ContainerResources.CpuShares != 2 || stopped.ContainerResources.CpuQuota != 70000 {
		t.Errorf("the container that was stopped is told as %v", stopped)
	}
	for _, call := range []func() error{
		func() error {
			_, err := r.cri.RemoveContainer(t.Context(), &runtimeapi.RemoveContainerRequest{ContainerId: "c"})
			return err
		},
		func() error {
			_, err := r.cri.RemovePodSandbox(t.Context(), &runtimeapi.RemovePodSandboxRequest{PodSandboxId: "s"})
			return err
		},
	} {
		if err := call(); err != nil {
			t.Fatal(err)
		}
	}
	if pods, containers := r.proxy.store.size(); pods != 0 || containers != 0 {
		t.Errorf("%d pods and %d containers are remembered after their removal", pods, containers)
	}
}

// live goes through the life of a pod.
func live(t *testing.T, r *rig) {
	t.Helper()
	_, run := r.cri.RunPodSandbox(t.Context(), aSandbox())
	_, create := r.cri.CreateContainer(t.Context(), aContainer())
	_, start := r.cri.StartContainer(t.Context(), &runtimeapi.StartContainerRequest{ContainerId: "c"})
	_, update := r.cri.UpdateContainerResources(t.Context(), &runtimeapi.UpdateContainerResourcesRequest{ContainerId: "c", Linux: &runtimeapi.LinuxContainerResources{CpuQuota: 70000}})
	_, stop := r.cri.StopContainer(t.Context(), &runtimeapi.StopContainerRequest{ContainerId: "c"})
	_, end := r.cri.StopPodSandbox(t.Context(), &runtimeapi.StopPodSandboxRequest{PodSandboxId: "s"})
	if err := errors.Join(run, create, start, update, stop, end); err != nil {
		t.Fatal(err)
	}
}

func TestPodsWithTheLabelAreNotAskedAbout(t *testing.T) {
	r := newRig(t)
	r.start()
	hooks := &fakeHooks{}
	r.serveHooks(hooks, "a", hookapi.Fail, hookapi.Hooks()...)
	sandbox, container := aSandbox(), aContainer()
	sandbox.Config.Labels[r.options.SkipKey], container.SandboxConfig.Labels[r.options.SkipKey] = "true", "true"
	_, run := r.cri.RunPodSandbox(t.Context(), sandbox)
	_, create := r.cri.CreateContainer(t.Context(), container)
	_, start := r.cri.StartContainer(t.Context(), &runtimeapi.StartContainerRequest{ContainerId: "c"})
	_, update := r.cri.UpdateContainerResources(t.Context(), &runtimeapi.UpdateContainerResourcesRequest{ContainerId: "c"})
	_, end := r.cri.StopPodSandbox(t.Context(), &runtimeapi.StopPodSandboxRequest{PodSandboxId: "s"})
	if err := errors.Join(run, create, start, update, end); err != nil {
		t.Fatal(err)
	}
	if got := hooks.asked(); len(got) > 0 {
		t.Errorf("asked at %v", got)
	}
}

func TestWhatTheRuntimeRefusedHasNoHooksAfterIt(t *testing.T) {
	r := newRig(t)
	r.start()
	hooks := &fakeHooks{}
	r.serveHooks(hooks, "a", hookapi.Fail, hookapi.PostStartContainer, hookapi.PostStopContainer, hookapi.PostStopPodSandbox)
	r.runtime.answerBy(func(string, []byte) ([]byte, error) { return nil, status.Error(codes.NotFound, "gone") })
	_, start := r.cri.StartContainer(t.Context(), &runtimeapi.StartContainerRequest{ContainerId: "c"})
	_, stop := r.cri.StopContainer(t.Context(), &runtimeapi.StopContainerRequest{ContainerId: "c"})
	_, end := r.cri.StopPodSandbox(t.Context(), &runtimeapi.StopPodSandboxRequest{PodSandboxId: "s"})
	for _, err := range []error{start, stop, end} {
		if status.Code(err) != codes.NotFound {
			t.Errorf("the call ends with %v", err)
		}
	}
	if got := hooks.asked(); len(got) > 0 {
		t.Errorf("asked at %v", got)
	}
}

func TestWhatIsKnownOfPodsOutlivesTheProxy(t *testing.T) {
	for _, test := range []struct {
		name string
		// lose the checkpoint, as a machine does that reboots.
		lose                     bool
		wantCgroup, wantVariable string
	}{
		{name: "with its checkpoint", wantCgroup: "/kubepods/podu1", wantVariable: "1"},
		{name: "without it, as far as the runtime can tell", lose: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.start()
			if _, err := r.cri.RunPodSandbox(t.Context(), aSandbox()); err != nil {
				t.Fatal(err)
			}
			if _, err := r.cri.CreateContainer(t.Context(), aContainer()); err != nil {
				t.Fatal(err)
			}
			r.stopped()
			if info, err := os.Stat(r.options.checkpoint()); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("checkpoint: %v, %v; want mode 0600", info, err)
			}
			if test.lose {
				if err := os.Remove(r.options.checkpoint()); err != nil {
					t.Fatal(err)
				}
			}
			r.start()
			hooks := &fakeHooks{}
			r.serveHooks(hooks, "a", hookapi.Fail, hookapi.PreStartContainer)
			if _, err := r.cri.StartContainer(t.Context(), &runtimeapi.StartContainerRequest{ContainerId: "c"}); err != nil {
				t.Fatal(err)
			}
			got := hooks.containers[hookapi.PreStartContainer]
			if got.PodCgroupParent != test.wantCgroup || got.ContainerEnvs["A"] != test.wantVariable || got.PodMeta.Name == "" {
				t.Errorf("the container is told as %v", got)
			}
		})
	}
}

func TestWhatTheRuntimeNoLongerHasIsForgotten(t *testing.T) {
	r := newRig(t)
	r.start()
	r.proxy.store.putPod("gone", podOf(aSandbox().Config, ""))
	r.proxy.store.putContainer("gone too", "gone", containerOf(aContainer().Config, "gone too"))
	if err := r.proxy.rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.proxy.store.pod("gone") != nil || r.proxy.store.container("gone too") != nil || r.proxy.store.container("c") == nil {
		t.Error("what is known is not what the runtime lists")
	}
}

func TestRegistrationsComeAndGo(t *testing.T) {
	r := newRig(t)
	r.start()
	asked := func() int { return len(r.proxy.registry.of(hookapi.PreRunPodSandbox)) }
	file := filepath.Join(r.options.HookDirectory, "a.json")
	write := func(content string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(file, []byte(content), 0o644), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		r.proxy.registry.look(t.Context())
	}
	const good = `{"remote-endpoint":"/x.sock","failure-policy":"Ignore","runtime-hooks":["PreRunPodSandbox"]}`
	write(good, 0o644)
	if asked() != 1 {
		t.Fatal("the server is not asked")
	}
	for _, broken := range []string{
		"", "{", `[]`, `{"remote-endpoint":"x.sock","runtime-hooks":["PreRunPodSandbox"]}`, `{"remote-endpoint":"/x.sock","runtime-hooks":["No"]}`,
		`{"remote-endpoint":"/x.sock"}`, `{"remote-endpoint":"/x.sock","failure-policy":"Maybe","runtime-hooks":["PreRunPodSandbox"]}`,
	} {
		write(broken, 0o644)
		if asked() != 1 {
			t.Errorf("with %q in its place, the server is not asked", broken)
		}
	}
	write(`{"remote-endpoint":"/x.sock","runtime-hooks":["PostStopContainer"]}`, 0o666)
	if asked() != 1 {
		t.Error("a file that everybody may write counts")
	}
	write(`{"remote-endpoint":"unix:///x.sock","runtime-hooks":["PostStopContainer"]}`, 0o644)
	if asked() != 0 {
		t.Error("the server is asked at a hook that it no longer names")
	}
	write(good, 0o644)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "a registration that went is noticed", func() bool { return asked() == 0 })
}
