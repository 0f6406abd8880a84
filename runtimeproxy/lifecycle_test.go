package runtimeproxy

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/runtimeproxy/hookapi"
	"koordinator.sh/koord/runtimeproxy/peer"
	"koordinator.sh/koord/test/eventually"
)

// TestACallThatIsUnderWayAtTheEndIsFinished by hooks that must not be left out, and what it did is kept.
func TestACallThatIsUnderWayAtTheEndIsFinished(t *testing.T) {
	r := newRig(t)
	r.start()
	asked, answer := make(chan struct{}), make(chan struct{})
	first := &fakeHooks{pod: func(context.Context, hookapi.Hook, *hookapi.PodSandboxHookRequest) (*hookapi.PodSandboxHookResponse, error) {
		close(asked)
		<-answer
		return &hookapi.PodSandboxHookResponse{Labels: map[string]string{"first": "was here"}}, nil
	}}
	r.serveHooks(first, "a", hookapi.Fail, hookapi.PreRunPodSandbox)
	done, stopped := make(chan error, 1), make(chan struct{})
	go func() {
		_, err := r.cri.RunPodSandbox(context.WithoutCancel(t.Context()), aSandbox())
		done <- err
	}()
	<-asked
	go func() {
		defer close(stopped)
		r.stopped()
	}()
	eventually.True(t, "nobody listens any more", func() bool {
		_, err := os.Stat(r.options.Endpoint)
		return errors.Is(err, fs.ErrNotExist)
	})
	close(answer)
	if err := <-done; err != nil {
		t.Errorf("the call ends with %v", err)
	}
	<-stopped
	kept := newStore(r.options.checkpoint())
	if err := kept.load(); err != nil || kept.pod("s").GetLabels()["first"] != "was here" {
		t.Errorf("the sandbox is kept as %v, %v", kept.pod("s"), err)
	}
}

// TestWhatWentPastTheProxyIsForgotten some time later: others may tell the runtime to remove pods.
func TestWhatWentPastTheProxyIsForgotten(t *testing.T) {
	r := newRig(t)
	clock := clocktesting.NewFakeClock(time.Now())
	r.options.Clock = clock
	r.start()
	eventually.True(t, "what the runtime has is known", func() bool { return r.proxy.store.container("c") != nil })
	r.proxy.store.putPod("gone", podOf(aSandbox().Config, ""))
	clock.Step(relearnEvery / 2)
	if r.proxy.store.pod("gone") == nil {
		t.Fatal("the runtime was asked again too soon")
	}
	eventually.True(t, "what went is forgotten", func() bool {
		clock.Step(relearnEvery)
		return r.proxy.store.pod("gone") == nil
	})
}

// TestAContainerOfASandboxThatIsNotToldIsOfTheOneThatRuns: the label that keeps hooks away counts too.
func TestAContainerOfASandboxThatIsNotToldIsOfTheOneThatRuns(t *testing.T) {
	r := newRig(t)
	r.start()
	hooks := &fakeHooks{}
	r.serveHooks(hooks, "a", hookapi.Fail, hookapi.PreCreateContainer)
	r.proxy.store.forgetPod("s")
	request := aContainer()
	request.SandboxConfig = nil
	if _, err := r.cri.CreateContainer(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if got := hooks.containers[hookapi.PreCreateContainer].GetPodMeta().GetName(); got != "listed" {
		t.Errorf("hooks are told of pod %q, want the one that the runtime lists", got)
	}
}

func TestProblemsOfRegistrationsThatWentAreForgotten(t *testing.T) {
	r := newRig(t)
	r.start()
	file := r.options.HookDirectory + "/broken.json"
	if err := os.WriteFile(file, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.proxy.registry.look(t.Context())
	told := func() bool {
		r.proxy.registry.mu.Lock()
		defer r.proxy.registry.mu.Unlock()
		_, has := r.proxy.registry.problems["broken.json"]
		return has
	}
	if !told() {
		t.Fatal("the problem is not remembered")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	r.proxy.registry.look(t.Context())
	if told() {
		t.Error("the problem of a file that went is remembered")
	}
}

// TestASocketIsTakenOverOnlyFromNobody: not from a process that has not come to accept connections, and not from a file.
func TestASocketIsTakenOverOnlyFromNobody(t *testing.T) {
	r := newRig(t)
	path := r.path("taken.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil; i++ { // until its queue is full
		if i > 1<<16 {
			t.Skip("the kernel's queue has no end")
		}
		var connection net.Conn
		if connection, err = net.Dial("unix", path); err == nil {
			defer func() { _ = connection.Close() }()
		}
	}
	if other, err := peer.Listen(path); err == nil {
		_ = other.Close()
		t.Error("the socket of a process that does not accept is taken over")
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := peer.Listen(path)
	if err != nil {
		t.Fatalf("the socket that a process left is not taken over: %v", err)
	}
	if err := left.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := peer.Listen(path); err == nil {
		t.Error("a file is taken over")
	}
}
