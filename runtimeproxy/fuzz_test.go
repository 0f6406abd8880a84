package runtimeproxy

import (
	"bytes"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// intercepted are the methods that are looked into.
var intercepted = []string{
	runtimeapi.RuntimeService_RunPodSandbox_FullMethodName, runtimeapi.RuntimeService_StopPodSandbox_FullMethodName,
	runtimeapi.RuntimeService_RemovePodSandbox_FullMethodName, runtimeapi.RuntimeService_CreateContainer_FullMethodName,
	runtimeapi.RuntimeService_StartContainer_FullMethodName, runtimeapi.RuntimeService_StopContainer_FullMethodName,
	runtimeapi.RuntimeService_RemoveContainer_FullMethodName, runtimeapi.RuntimeService_UpdateContainerResources_FullMethodName,
}

// FuzzFrames sends anything as a request and as its answer, with a server of hooks that changes nothing: both must arrive as they
// were sent.
func FuzzFrames(f *testing.F) {
	r := newRig(f)
	r.start()
	r.serveHooks(&fakeHooks{}, "a", hookapi.Fail, hookapi.Hooks()...)
	f.Add(uint8(0), r.marshal(aSandbox()), r.marshal(&runtimeapi.RunPodSandboxResponse{PodSandboxId: "s"}))
	f.Add(uint8(3), r.marshal(aContainer()), r.marshal(&runtimeapi.CreateContainerResponse{ContainerId: "c"}))
	f.Add(uint8(3), unknown(r.marshal(aContainer())), []byte{0xff})
	f.Add(uint8(7), r.marshal(&runtimeapi.UpdateContainerResourcesRequest{ContainerId: "c", Linux: &runtimeapi.LinuxContainerResources{CpuQuota: -1}}), []byte(nil))
	f.Add(uint8(4), []byte("\x0a\x01c"), []byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, which uint8, request, answer []byte) {
		method := intercepted[int(which)%len(intercepted)]
		r.runtime.answerBy(func(string, []byte) ([]byte, error) { return answer, nil })
		got, err := r.raw(method, request)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, answer) {
			t.Errorf("%s is answered %q, want %q", method, got, answer)
		}
		if got := r.runtime.last(method); !bytes.Equal(got, request) {
			t.Errorf("the runtime got %q, want %q", got, request)
		}
		r.runtime.mu.Lock()
		r.runtime.got = nil
		r.runtime.mu.Unlock()
	})
}
