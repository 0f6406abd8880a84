package runtimeproxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// patience is how long a test waits for what usually takes milliseconds.
const patience = 20 * time.Second

// received is a message that a runtime got.
type received struct {
	method  string
	content []byte
}

// fakeRuntime takes any call and remembers what it got, byte for byte.
type fakeRuntime struct {
	mu  sync.Mutex
	got []received
	// answer to a single message; the methods of the default answer make sandbox s and container c.
	answer func(method string, content []byte) ([]byte, error)
}

// answerBy a function from here on: the proxy asks for lists at any time.
func (f *fakeRuntime) answerBy(answer func(method string, content []byte) ([]byte, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// serve listens until the function it returns is called.
func (f *fakeRuntime) serve(t testing.TB, path string) (stop func()) {
	t.Helper()
	_ = os.Remove(path)
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(codec{}), grpc.UnknownServiceHandler(f.handle), grpc.MaxRecvMsgSize(largestMessage), grpc.MaxSendMsgSize(largestMessage))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return server.Stop
}

func (f *fakeRuntime) handle(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	if incoming, _ := metadata.FromIncomingContext(stream.Context()); len(incoming["x-echo"]) > 0 {
		_ = stream.SetHeader(metadata.Pairs("x-header", incoming["x-echo"][0]))
		stream.SetTrailer(metadata.Pairs("x-trailer", incoming["x-echo"][0]))
	}
	for {
		message := &frame{}
		switch err := stream.RecvMsg(message); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		content := append([]byte(nil), message.bytes()...)
		message.free()
		f.mu.Lock()
		f.got = append(f.got, received{method, content})
		f.mu.Unlock()
		answers, err := f.answers(method, content)
		for _, answer := range answers {
			if sendErr := stream.SendMsg(&frame{data: sliceOf(answer)}); sendErr != nil {
				return sendErr
			}
		}
		if err != nil || shapes[method] != many {
			return err
		}
	}
}

func (f *fakeRuntime) answers(method string, content []byte) ([][]byte, error) {
	f.mu.Lock()
	by := f.answer
	f.mu.Unlock()
	if by != nil {
		answer, err := by(method, content)
		if err != nil {
			return nil, err
		}
		return [][]byte{answer}, nil
	}
	var message proto.Message
	switch method {
	case runtimeapi.RuntimeService_RunPodSandbox_FullMethodName:
		message = &runtimeapi.RunPodSandboxResponse{PodSandboxId: "s"}
	case runtimeapi.RuntimeService_CreateContainer_FullMethodName:
		message = &runtimeapi.CreateContainerResponse{ContainerId: "c"}
	case runtimeapi.RuntimeService_ListPodSandbox_FullMethodName:
		message = &runtimeapi.ListPodSandboxResponse{Items: []*runtimeapi.PodSandbox{{Id: "s", Metadata: &runtimeapi.PodSandboxMetadata{Name: "listed", Uid: "u"}}}}
	case runtimeapi.RuntimeService_ListContainers_FullMethodName:
		message = &runtimeapi.ListContainersResponse{Containers: []*runtimeapi.Container{{Id: "c", PodSandboxId: "s", Metadata: &runtimeapi.ContainerMetadata{Name: "listed"}}}}
	default:
		if shapes[method] == answers {
			return [][]byte{content, content}, nil
		}
		return [][]byte{content}, nil // an echo
	}
	answer, err := proto.Marshal(message)
	return [][]byte{answer}, err
}

// of a method, what came last.
func (f *fakeRuntime) last(method string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.got) - 1; i >= 0; i-- {
		if f.got[i].method == method {
			return f.got[i].content
		}
	}
	return nil
}

// fakeHooks is a server of hooks.
type fakeHooks struct {
	pod       func(context.Context, hookapi.Hook, *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error)
	container func(context.Context, hookapi.Hook, *hookapi.ContainerResourceHookRequest) (*hookapi.ContainerResourceHookResponse, error)

	mu    sync.Mutex
	hooks []hookapi.Hook
	// pods and containers that it was asked about last.
	pods       map[hookapi.Hook]*hookapi.PodSandboxHookRequest
	containers map[hookapi.Hook]*hookapi.ContainerResourceHookRequest
}

// Pod implements hookapi.Server.
func (f *fakeHooks) Pod(ctx context.Context, hook hookapi.Hook, r *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error) {
	f.mu.Lock()
	if f.pods == nil {
		f.pods = map[hookapi.Hook]*hookapi.PodSandboxHookRequest{}
	}
	f.hooks, f.pods[hook] = append(f.hooks, hook), r
	f.mu.Unlock()
	if f.pod == nil {
		return &hookapi.PodSandboxHookResponse{}, nil
	}
	return f.pod(ctx, hook, r)
}

// Container implements hookapi.Server.
func (f *fakeHooks) Container(ctx context.Context, hook hookapi.Hook, r *hookapi.ContainerResourceHookRequest) (*hookapi.ContainerResourceHookResponse, error) {
	f.mu.Lock()
	if f.containers == nil {
		f.containers = map[hookapi.Hook]*hookapi.ContainerResourceHookRequest{}
	}
	f.hooks, f.containers[hook] = append(f.hooks, hook), r
	f.mu.Unlock()
	if f.container == nil {
		return &hookapi.ContainerResourceHookResponse{}, nil
	}
	return f.container(ctx, hook, r)
}

func (f *fakeHooks) asked() []hookapi.Hook {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]hookapi.Hook(nil), f.hooks...)
}

func (f *fakeHooks) serve(t testing.TB, path string) (stop func()) {
	t.Helper()
	_ = os.Remove(path)
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(largestMessage))
	hookapi.Register(server, f)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return server.Stop
}

// rig is a proxy with a runtime behind it and a client before it.
type rig struct {
	t         testing.TB
	directory string
	options   *Options
	runtime   *fakeRuntime
	stopped   func()
	proxy     *Proxy
	client    *grpc.ClientConn
	cri       runtimeapi.RuntimeServiceClient
}

// newRig starts everything but servers of hooks.
func newRig(t testing.TB) *rig {
	t.Helper()
	directory, err := os.MkdirTemp("", "rp") // the paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	r := &rig{t: t, directory: directory, options: NewOptions(), runtime: &fakeRuntime{}}
	r.options.Endpoint, r.options.RuntimeEndpoint = r.path("p.sock"), r.path("r.sock")
	r.options.HookDirectory, r.options.StateDirectory = r.path("hooks"), r.path("state")
	r.options.HookTimeout = 5 * time.Second
	if err := os.Mkdir(r.options.HookDirectory, 0o755); err != nil {
		t.Fatal(err)
	}
	r.runtime.serve(t, r.options.RuntimeEndpoint)
	return r
}

func (r *rig) path(name string) string { return filepath.Join(r.directory, name) }

// start runs the proxy and connects to it.
func (r *rig) start() {
	r.t.Helper()
	proxy, err := New(r.options)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- proxy.Run(ctx) }()
	var once sync.Once
	r.proxy, r.stopped = proxy, func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				r.t.Error(err)
			}
		})
	}
	r.t.Cleanup(r.stopped)
	r.client, err = grpc.NewClient("unix:"+r.options.Endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec{}), grpc.WaitForReady(true), grpc.MaxCallRecvMsgSize(largestMessage), grpc.MaxCallSendMsgSize(largestMessage)))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = r.client.Close() })
	r.cri = runtimeapi.NewRuntimeServiceClient(r.client)
	if _, err := r.raw("/runtime.v1.RuntimeService/Version", nil); err != nil {
		r.t.Fatal(err)
	}
}

// raw sends one message and returns its answer.
func (r *rig) raw(method string, content []byte, options ...grpc.CallOption) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer := &frame{}
	err := r.client.Invoke(ctx, method, &frame{data: sliceOf(content)}, answer, options...)
	return append([]byte(nil), answer.bytes()...), err
}

// register adds a server of hooks by name, and waits until the proxy knows it.
func (r *rig) register(name string, policy hookapi.FailurePolicy, hooks ...hookapi.Hook) {
	r.t.Helper()
	content, err := json.Marshal(hookapi.Registration{Endpoint: r.path(name + ".sock"), Policy: policy, Hooks: hooks})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.options.HookDirectory, name+".json"), content, 0o644); err != nil {
		r.t.Fatal(err)
	}
	if r.proxy != nil {
		r.proxy.registry.look(context.Background())
	}
}

// serveHooks starts a server of hooks, and registers it.
func (r *rig) serveHooks(hooks *fakeHooks, name string, policy hookapi.FailurePolicy, at ...hookapi.Hook) (stop func()) {
	r.t.Helper()
	stop = hooks.serve(r.t, r.path(name+".sock"))
	r.register(name, policy, at...)
	return stop
}

func (r *rig) marshal(message proto.Message) []byte {
	r.t.Helper()
	content, err := proto.Marshal(message)
	if err != nil {
		r.t.Fatal(err)
	}
	return content
}

func sliceOf(content []byte) mem.BufferSlice { return mem.BufferSlice{mem.SliceBuffer(content)} }
