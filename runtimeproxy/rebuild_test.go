package runtimeproxy

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// slowRuntime has a pod and a container, and does something between its answers about pods and about containers.
type slowRuntime struct {
	runtimeapi.RuntimeServiceClient
	meanwhile func()
}

func (slowRuntime) ListPodSandbox(context.Context, *runtimeapi.ListPodSandboxRequest, ...grpc.CallOption) (*runtimeapi.ListPodSandboxResponse, error) {
	return &runtimeapi.ListPodSandboxResponse{Items: []*runtimeapi.PodSandbox{{Id: "s"}}}, nil
}

func (r slowRuntime) ListContainers(context.Context, *runtimeapi.ListContainersRequest, ...grpc.CallOption) (*runtimeapi.ListContainersResponse, error) {
	r.meanwhile()
	return &runtimeapi.ListContainersResponse{Containers: []*runtimeapi.Container{{Id: "c", PodSandboxId: "s"}}}, nil
}

func TestWhatGoesWhileTheRuntimeAnswersIsNotAdopted(t *testing.T) {
	for _, test := range []struct {
		name                     string
		meanwhile                func(s *store)
		wantPods, wantContainers int
	}{
		{"nothing goes", func(*store) {}, 1, 1},
		{"the container goes", func(s *store) { s.forgetContainer("c") }, 1, 0},
		{"the pod goes, with its container", func(s *store) { s.forgetPod("s") }, 0, 0},
		{"a pod that is known already goes", func(s *store) {
			s.putPod("s", &hookapi.PodSandboxHookRequest{})
			s.putContainer("c", "s", &hookapi.ContainerResourceHookRequest{})
			s.forgetPod("s")
		}, 0, 0},
		{"another pod goes", func(s *store) { s.forgetPod("other") }, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &Proxy{store: newStore("")}
			p.runtime = slowRuntime{meanwhile: func() { test.meanwhile(p.store) }}
			if err := p.rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
			if pods, containers := p.store.size(); pods != test.wantPods || containers != test.wantContainers {
				t.Errorf("%d pods and %d containers are known, want %d and %d", pods, containers, test.wantPods, test.wantContainers)
			}
			p.store.forgetPod("s") // of which nothing is noted any more
			if err := (&Proxy{store: p.store, runtime: slowRuntime{meanwhile: func() {}}}).rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
			if pods, containers := p.store.size(); pods != 1 || containers != 1 {
				t.Errorf("%d pods and %d containers are known after the next answer, want those of the runtime", pods, containers)
			}
		})
	}
}
