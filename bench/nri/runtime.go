package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/hooks/nri"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
)

// connectTimeout is how long the plugin may take to connect.
const connectTimeout = 30 * time.Second

// runtime is the part of a container runtime that NRI is in it.
type runtime struct {
	machine *machine
	library *adaptation.Adaptation
}

// startRuntimes returns a runtime that the agent's plugin is connected to, and one that has none.
func startRuntimes(ctx context.Context, m *machine, a *agent) (hooked, plain *runtime, stop func(), err error) {
	directory, err := os.MkdirTemp("", "nri") // the paths of sockets must be short
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	close(ended)
	var started []*adaptation.Adaptation
	stop = func() {
		cancel()
		<-ended
		for _, library := range started {
			library.Stop()
		}
		_ = os.RemoveAll(directory) // a temporary directory
	}
	for _, name := range []string{"hooked", "plain"} {
		library, err := newLibrary(filepath.Join(directory, name))
		if err != nil {
			stop()
			return nil, nil, nil, err
		}
		started = append(started, library)
	}
	connected := make(chan struct{}, 8)
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		nri.Run(ctx, nri.Options{
			Advisor: a.advisor, Socket: socketIn(filepath.Join(directory, "hooked")), Clock: clock.RealClock{}, Connected: func() { connected <- struct{}{} },
		})
	}()
	select {
	case <-connected:
	case <-time.After(connectTimeout):
		err = fmt.Errorf("the plugin has not connected within %s", connectTimeout)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		stop()
		return nil, nil, nil, err
	}
	started[0].BlockPluginSync().Unblock() // when the plugin is among those that are called
	return &runtime{m, started[0]}, &runtime{m, started[1]}, stop, nil
}

func socketIn(directory string) string { return filepath.Join(directory, "n.sock") }

func newLibrary(directory string) (*adaptation.Adaptation, error) {
	if err := os.Mkdir(directory, 0o755); err != nil {
		return nil, err
	}
	library, err := adaptation.New("bench", "2.4.2",
		func(ctx context.Context, call adaptation.SyncCB) error { _, err := call(ctx, nil, nil); return err },
		func(context.Context, []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) { return nil, nil },
		adaptation.WithSocketPath(socketIn(directory)), adaptation.WithPluginPath(filepath.Join(directory, "p")),
		adaptation.WithPluginConfigPath(filepath.Join(directory, "c")))
	if err != nil {
		return nil, err
	}
	return library, library.Start()
}

// start starts a batch pod of one container, which the agent learns of only through NRI, and removes it. Only the calls of NRI are
// timed.
func (r *runtime) start(ctx context.Context, name string, to *timings) (err error) {
	at := r.machine.layout.Pod(corev1.PodQOSBestEffort, types.UID(name))
	id := idOf(name, "main")
	if err := r.machine.make(at); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.machine.remove(at)) }()
	pod, container := describe(name, id, at)
	took, err := timed(func() error { return r.library.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod}) })
	if err != nil {
		return err
	}
	to.run = append(to.run, took)
	var created *api.CreateContainerResponse
	took, err = timed(func() error {
		created, err = r.library.CreateContainer(ctx, &api.CreateContainerRequest{Pod: pod, Container: container})
		return err
	})
	if err != nil {
		return err
	}
	to.create = append(to.create, took)
	if err := errors.Join(r.machine.make(at+"/"+id), r.apply(at+"/"+id, created.GetAdjust().GetLinux().GetResources())); err != nil {
		return err
	}
	took, err = timed(func() error {
		return r.library.StartContainer(ctx, &api.StartContainerRequest{Pod: pod, Container: container})
	})
	if err != nil {
		return err
	}
	to.start = append(to.start, took)
	return r.library.RemovePodSandbox(ctx, &api.RemovePodSandboxRequest{Pod: pod})
}

func timed(call func() error) (time.Duration, error) {
	began := time.Now()
	err := call()
	return time.Since(began), err
}

// apply what the plugin asked for to the container's cgroup, as runc does.
func (r *runtime) apply(at string, resources *api.LinuxResources) error {
	var problems []error
	set := func(setting cgroup.Setting, told bool, value string) {
		if told {
			problems = append(problems, r.machine.set(setting, at, value))
		}
	}
	cpu, limit := resources.GetCpu(), resources.GetMemory().GetLimit()
	set(cgroup.CPUShares, cpu.GetShares() != nil, strconv.FormatUint(cpu.GetShares().GetValue(), 10))
	set(cgroup.CPUQuota, cpu.GetQuota() != nil, strconv.FormatInt(cpu.GetQuota().GetValue(), 10))
	set(cgroup.CPUSet, cpu.GetCpus() != "", cpu.GetCpus())
	set(cgroup.MemoryLimit, limit != nil, strconv.FormatInt(limit.GetValue(), 10))
	for file, content := range resources.GetUnified() {
		problems = append(problems, r.machine.setFile(at, file, content))
	}
	return errors.Join(problems...)
}

// describe a pod and its container as a runtime does, with what kubelet says of them.
func describe(name, id, at string) (*api.PodSandbox, *api.Container) {
	return &api.PodSandbox{
			Id: "sandbox-" + name, Uid: name, Name: name, Namespace: "default", Labels: map[string]string{extension.LabelPodQoS: "BE"},
			Annotations: map[string]string{extension.AnnotationExtendedResourceSpec: `{"containers":{"main":{
				"requests":{"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"1Gi"},"limits":{"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"1Gi"}}}}`},
			Linux: &api.LinuxPodSandbox{CgroupParent: "/" + at},
		}, &api.Container{
			Id: id, PodSandboxId: "sandbox-" + name, Name: "main", Linux: &api.LinuxContainer{
				CgroupsPath: "/" + at + "/" + id, Resources: &api.LinuxResources{Cpu: &api.LinuxCPU{Shares: api.UInt64(2), Period: api.UInt64(100000)}},
			},
		}
}
