package runtimeproxy

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// saveEvery is how often what is known is kept, when it has changed.
const saveEvery = time.Second

// store is the pods and containers that hooks can refer to. What is in it is never changed, only replaced.
type store struct {
	file checkpoint.File

	mu         sync.Mutex
	pods       map[string]*hookapi.PodSandboxHookRequest
	containers map[string]*container
	unsaved    bool
	// gone are the IDs of what was forgotten since the runtime was asked what it has; nil while it is not asked.
	gone map[string]bool
}

// container is one in a sandbox. Its request lacks what is the pod's.
type container struct {
	pod     string
	request *hookapi.ContainerResourceHookRequest
}

// kept is the content of the checkpoint: messages in their wire format.
type kept struct {
	Pods       map[string][]byte        `json:"pods"`
	Containers map[string]keptContainer `json:"containers"`
}

type keptContainer struct {
	Pod     string `json:"pod"`
	Request []byte `json:"request"`
}

func newStore(path string) *store {
	return &store{file: checkpoint.File{Path: path}, pods: map[string]*hookapi.PodSandboxHookRequest{}, containers: map[string]*container{}}
}

func (s *store) size() (pods, containers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pods), len(s.containers)
}

// pod returns a sandbox; nil when it is not known.
func (s *store) pod(id string) *hookapi.PodSandboxHookRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pods[id]
}

// container returns what hooks are told about one, with its pod; nil when it is not known.
func (s *store) container(id string) *hookapi.ContainerResourceHookRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.containers[id]
	if found == nil {
		return nil
	}
	return within(s.pods[found.pod], found.request)
}

// within completes what is known of a container by its pod, which may be nil. The maps are shared.
func within(pod *hookapi.PodSandboxHookRequest, request *hookapi.ContainerResourceHookRequest) *hookapi.ContainerResourceHookRequest {
	out := &hookapi.ContainerResourceHookRequest{
		PodMeta: pod.GetPodMeta(), ContainerMata: request.ContainerMata, ContainerAnnotations: request.ContainerAnnotations,
		ContainerResources: request.ContainerResources, ContainerEnvs: request.ContainerEnvs, PodResources: pod.GetResources(),
		PodAnnotations: pod.GetAnnotations(), PodLabels: pod.GetLabels(), PodCgroupParent: pod.GetCgroupParent(),
	}
	if out.PodMeta == nil {
		out.PodMeta = &hookapi.PodSandboxMetadata{}
	}
	return out
}

func (s *store) putPod(id string, pod *hookapi.PodSandboxHookRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pods[id], s.unsaved = pod, true
}

// putContainer keeps what is the container's of a request.
func (s *store) putContainer(id, pod string, request *hookapi.ContainerResourceHookRequest) {
	own := &hookapi.ContainerResourceHookRequest{
		ContainerMata: request.ContainerMata, ContainerAnnotations: request.ContainerAnnotations,
		ContainerResources: request.ContainerResources, ContainerEnvs: request.ContainerEnvs,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.containers[id], s.unsaved = &container{pod: pod, request: own}, true
}

// setResources replaces those of a container that is known.
func (s *store) setResources(id string, resources *hookapi.LinuxContainerResources) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.containers[id]; found != nil {
		request := &hookapi.ContainerResourceHookRequest{
			ContainerMata: found.request.ContainerMata, ContainerAnnotations: found.request.ContainerAnnotations,
			ContainerResources: resources, ContainerEnvs: found.request.ContainerEnvs,
		}
		s.containers[id], s.unsaved = &container{pod: found.pod, request: request}, true
	}
}

func (s *store) forgetPod(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pods, id)
	s.left(id)
	maps.DeleteFunc(s.containers, func(container string, c *container) bool {
		if c.pod != id {
			return false
		}
		s.left(container)
		return true
	})
	s.unsaved = true
}

func (s *store) forgetContainer(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.containers, id)
	s.left(id)
	s.unsaved = true
}

// left notes that something is forgotten. The caller holds the lock.
func (s *store) left(id string) {
	if s.gone != nil {
		s.gone[id] = true
	}
}

// asking returns a copy of what is known before the runtime is asked what it has. What is forgotten from now until answered is called is
// not adopted: an answer that is under way may still have it.
func (s *store) asking() *store {
	s.mu.Lock()
	s.gone = map[string]bool{}
	s.mu.Unlock()
	return s.copy()
}

// answered ends asking.
func (s *store) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = nil
}

// adoptPod takes a pod of the runtime over that is not known.
func (s *store) adoptPod(id string, pod *hookapi.PodSandboxHookRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods[id] == nil && !s.gone[id] {
		s.pods[id], s.unsaved = pod, true
	}
}

// adoptContainer takes a container of the runtime over that is not known.
func (s *store) adoptContainer(id, pod string, request *hookapi.ContainerResourceHookRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.containers[id] == nil && !s.gone[id] && !s.gone[pod] {
		s.containers[id], s.unsaved = &container{pod: pod, request: request}, true
	}
}

// retain drops what the runtime does not have, of what was known before it was asked.
func (s *store) retain(known *store, pods, containers map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.pods, func(id string, pod *hookapi.PodSandboxHookRequest) bool { return known.pods[id] == pod && !pods[id] })
	maps.DeleteFunc(s.containers, func(id string, c *container) bool { return known.containers[id] == c && !containers[id] })
	s.unsaved = true
}

// copy of what is known.
func (s *store) copy() *store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &store{pods: maps.Clone(s.pods), containers: maps.Clone(s.containers)}
}

// load reads the checkpoint, before anything else is known. Of one that cannot be read, what can is known.
func (s *store) load() error {
	var read kept
	if _, err := s.file.Load(&read); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, content := range read.Pods {
		pod := &hookapi.PodSandboxHookRequest{}
		if err := proto.Unmarshal(content, pod); err != nil {
			return fmt.Errorf("load checkpoint %q: pod %q: %w", s.file.Path, id, err)
		}
		s.pods[id] = pod
	}
	for id, content := range read.Containers {
		request := &hookapi.ContainerResourceHookRequest{}
		if err := proto.Unmarshal(content.Request, request); err != nil {
			return fmt.Errorf("load checkpoint %q: container %q: %w", s.file.Path, id, err)
		}
		s.containers[id] = &container{pod: content.Pod, request: request}
	}
	return nil
}

// save writes the checkpoint when it is out of date.
func (s *store) save() error {
	s.mu.Lock()
	if !s.unsaved {
		s.mu.Unlock()
		return nil
	}
	s.unsaved = false
	s.mu.Unlock()
	now := s.copy()
	out := kept{Pods: map[string][]byte{}, Containers: map[string]keptContainer{}}
	err := func() error {
		for id, pod := range now.pods {
			content, err := proto.Marshal(pod)
			if err != nil {
				return fmt.Errorf("store pod %q: %w", id, err)
			}
			out.Pods[id] = content
		}
		for id, c := range now.containers {
			content, err := proto.Marshal(c.request)
			if err != nil {
				return fmt.Errorf("store container %q: %w", id, err)
			}
			out.Containers[id] = keptContainer{Pod: c.pod, Request: content}
		}
		return s.file.Save(out)
	}()
	if err != nil {
		s.mu.Lock()
		s.unsaved = true
		s.mu.Unlock()
	}
	return err
}

// run saves now and then until the context ends, and once more then.
func (s *store) run(ctx context.Context, clock clock.WithTicker) {
	ticker := clock.NewTicker(saveEvery)
	defer ticker.Stop()
	problem := ""
	for {
		ended := false
		select {
		case <-ctx.Done():
			ended = true
		case <-ticker.C():
		}
		text := ""
		if err := s.save(); err != nil {
			text = err.Error()
			if text != problem {
				klog.FromContext(ctx).Error(err, "Failed to write the checkpoint, will retry")
			}
		}
		if problem = text; ended {
			return
		}
	}
}
