package runtimeproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"koordinator.sh/koord/runtimeproxy/hookapi"
	"koordinator.sh/koord/test/eventually"
)

// unknown is a field that no version of CRI has.
func unknown(content []byte) []byte {
	return protowire.AppendString(protowire.AppendTag(bytes.Clone(content), 4242, protowire.BytesType), "of a later version")
}

func TestEverythingPassesByteForByte(t *testing.T) {
	r := newRig(t)
	r.start()
	r.serveHooks(&fakeHooks{}, "idle", hookapi.Fail, hookapi.Hooks()...)
	sandbox := r.marshal(&runtimeapi.RunPodSandboxRequest{Config: &runtimeapi.PodSandboxConfig{Labels: map[string]string{"a": "b", "c": "d", "e": "f"}}})
	container := r.marshal(&runtimeapi.CreateContainerRequest{PodSandboxId: "s", Config: &runtimeapi.ContainerConfig{
		Envs: []*runtimeapi.KeyValue{{Key: "BINARY", Value: []byte{0xff, 0x00, 0xfe}}, {Key: "TWICE", Value: []byte("1")}, {Key: "TWICE", Value: []byte("2")}},
	}})
	for name, test := range map[string]struct {
		method  string
		content []byte
	}{
		"a sandbox with a field of a later version":        {runtimeapi.RuntimeService_RunPodSandbox_FullMethodName, unknown(sandbox)},
		"a container with a field of a later version":      {runtimeapi.RuntimeService_CreateContainer_FullMethodName, unknown(container)},
		"a sandbox that is nonsense":                       {runtimeapi.RuntimeService_RunPodSandbox_FullMethodName, []byte{0xff, 0xff, 0xff, 1, 2, 3}},
		"a container cut off in the middle":                {runtimeapi.RuntimeService_CreateContainer_FullMethodName, container[:len(container)-3]},
		"an update of nothing":                             {runtimeapi.RuntimeService_UpdateContainerResources_FullMethodName, nil},
		"a start of nothing":                               {runtimeapi.RuntimeService_StartContainer_FullMethodName, nil},
		"a call that is not looked into":                   {runtimeapi.RuntimeService_Version_FullMethodName, []byte{0xff, 0xff}},
		"an image":                                         {runtimeapi.ImageService_PullImage_FullMethodName, unknown(nil)},
		"a method of a later version":                      {"/runtime.v1.RuntimeService/DefragmentContainer", []byte("\x0a\x03abc")},
		"a service that is not CRI's":                      {"/containerd.services.tasks.v1.Tasks/Pause", bytes.Repeat([]byte("x"), 5<<20)},
		"a sandbox with a megabyte of annotations":         {runtimeapi.RuntimeService_RunPodSandbox_FullMethodName, r.marshal(&runtimeapi.RunPodSandboxRequest{Config: &runtimeapi.PodSandboxConfig{Annotations: map[string]string{"a": strings.Repeat("b", 1<<20)}}})},
		"text that is none, which Go's parser refuses":     {runtimeapi.RuntimeService_StopContainer_FullMethodName, []byte("\x0a\x02\xff\xfe")},
		"a message that says the same field over and over": {runtimeapi.RuntimeService_StopContainer_FullMethodName, []byte("\x0a\x01a\x0a\x01c")},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := r.raw(test.method, test.content); err != nil {
				t.Fatal(err)
			}
			if got := r.runtime.last(test.method); !bytes.Equal(got, test.content) {
				t.Errorf("the runtime got %d bytes, want the %d that were sent", len(got), len(test.content))
			}
		})
	}
}

func TestAnswersPassByteForByte(t *testing.T) {
	r := newRig(t)
	want := unknown([]byte("\x0a\x01s"))
	r.runtime.answerBy(func(string, []byte) ([]byte, error) { return want, nil })
	r.start()
	for _, method := range []string{
		runtimeapi.RuntimeService_RunPodSandbox_FullMethodName, runtimeapi.RuntimeService_Status_FullMethodName, "/any.Service/Method",
	} {
		var header, trailer metadata.MD
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-echo", "it is me")
		answer := &frame{}
		if err := r.client.Invoke(ctx, method, &frame{data: sliceOf(nil)}, answer, grpc.Header(&header), grpc.Trailer(&trailer)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(answer.bytes(), want) {
			t.Errorf("%s is answered %q, want %q", method, answer.bytes(), want)
		}
		if got := append(header["x-header"], trailer["x-trailer"]...); !cmp.Equal(got, []string{"it is me", "it is me"}) {
			t.Errorf("%s has header and trailer %q", method, got)
		}
	}
}

func TestErrorsPassWithTheirDetails(t *testing.T) {
	r := newRig(t)
	refusal, err := status.New(codes.ResourceExhausted, "no room: 100%").WithDetails(&errdetails.RetryInfo{})
	if err != nil {
		t.Fatal(err)
	}
	r.start()
	r.runtime.answerBy(func(string, []byte) ([]byte, error) { return nil, refusal.Err() })
	for _, method := range []string{
		runtimeapi.RuntimeService_RunPodSandbox_FullMethodName, runtimeapi.RuntimeService_Status_FullMethodName,
		runtimeapi.RuntimeService_GetContainerEvents_FullMethodName, "/any.Service/Method",
	} {
		_, err := r.raw(method, nil)
		if diff := cmp.Diff(refusal.Proto().String(), status.Convert(err).Proto().String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", method, diff)
		}
	}
}

func TestStreamsPassBothWays(t *testing.T) {
	r := newRig(t)
	r.start()
	stream, err := r.client.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/later.Service/Exec")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 { // each is answered before the next is sent
		want := fmt.Sprintf("line %d", i)
		if err := stream.SendMsg(&frame{data: sliceOf([]byte(want))}); err != nil {
			t.Fatal(err)
		}
		answer := &frame{}
		if err := stream.RecvMsg(answer); err != nil || string(answer.bytes()) != want {
			t.Fatalf("answer %q, %v; want %q", answer.bytes(), err, want)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(&frame{}); !errors.Is(err, io.EOF) {
		t.Errorf("the stream ends with %v", err)
	}
}

func TestAStreamOfAnswersPasses(t *testing.T) {
	r := newRig(t)
	r.start()
	stream, err := r.cri.GetContainerEvents(t.Context(), &runtimeapi.GetEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the stream ends with %v", err)
	}
}

func TestACallerThatGoesEndsTheCallOfTheRuntime(t *testing.T) {
	r := newRig(t)
	r.start()
	began, ended := make(chan struct{}), make(chan struct{})
	const slow = "/any.Service/Slow"
	r.runtime.answerBy(func(method string, _ []byte) ([]byte, error) {
		if method == slow { // the proxy may still be asking what runs
			close(began)
			<-ended
		}
		return nil, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.client.Invoke(ctx, slow, &frame{data: sliceOf(nil)}, &frame{}) }()
	<-began
	cancel()
	if err := <-done; status.Code(err) != codes.Canceled {
		t.Errorf("the call ends with %v", err)
	}
	close(ended)
}

func TestARuntimeThatRestartsIsReachedAgain(t *testing.T) {
	r := newRig(t)
	r.runtime = &fakeRuntime{}
	stop := r.runtime.serve(t, r.options.RuntimeEndpoint)
	r.start()
	stop()
	if _, err := r.raw(runtimeapi.RuntimeService_Status_FullMethodName, nil); status.Code(err) != codes.Unavailable {
		t.Errorf("without a runtime, a call ends with %v", err)
	}
	r.runtime.serve(t, r.options.RuntimeEndpoint)
	eventually.True(t, "calls pass again", func() bool {
		_, err := r.raw(runtimeapi.RuntimeService_Status_FullMethodName, nil)
		return err == nil
	})
}

// TestOnlyRootIsHeard connects from a process of another user, to a socket whose mode would let it.
func TestOnlyRootIsHeard(t *testing.T) {
	const variable = "RUNTIMEPROXY_TEST_SOCKET"
	if socket := os.Getenv(variable); socket != "" {
		connection, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		_, err = runtimeapi.NewRuntimeServiceClient(connection).Version(t.Context(), &runtimeapi.VersionRequest{})
		fmt.Println("code is", status.Code(err))
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become somebody else")
	}
	r := newRig(t)
	r.start()
	info, err := os.Stat(r.options.Endpoint)
	if err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("socket: %v, %v; want mode 0660", info.Mode(), err)
	}
	program := r.path("test")
	content, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(r.directory, 0o755), os.Chmod(r.options.Endpoint, 0o666), os.WriteFile(program, content, 0o755)); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[uint32]string{65534: "code is Unavailable", 0: "code is OK"} {
		command := exec.CommandContext(t.Context(), program, "-test.run", "^TestOnlyRootIsHeard$", "-test.v")
		command.Env = append(os.Environ(), variable+"="+r.options.Endpoint)
		command.Dir = "/"
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		output, err := command.CombinedOutput()
		if !strings.Contains(string(output), want) {
			t.Errorf("user %d: %v, want %q in:\n%s", user, err, want, output)
		}
	}
}
