package services

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
)

// World reads nodes from the cache of a scheduler, independently of the scheduling cycles, which have their own snapshot. It is
// safe for concurrent use.
type World struct {
	mutex    sync.Mutex
	cache    cache.Cache
	snapshot *cache.Snapshot
}

// NewWorld returns a World of the cache.
func NewWorld(from cache.Cache) *World {
	return &World{cache: from, snapshot: cache.NewEmptySnapshot()}
}

// Nodes brings the nodes up to date. What is handed out stays as it is.
func (w *World) Nodes(ctx context.Context) (Nodes, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if err := w.cache.UpdateSnapshot(klog.FromContext(ctx), w.snapshot); err != nil {
		return nil, err
	}
	return latest{w}, nil
}

// latest hands out copies, because the next update writes into the nodes of the snapshot.
type latest struct{ world *World }

// Get implements Nodes.
func (l latest) Get(name string) (fwk.NodeInfo, error) {
	l.world.mutex.Lock()
	defer l.world.mutex.Unlock()
	info, err := l.world.snapshot.NodeInfos().Get(name)
	if err != nil {
		return nil, NotFound("cannot find node %s", name)
	}
	return info.Snapshot(), nil
}

// List implements Nodes.
func (l latest) List() ([]fwk.NodeInfo, error) {
	l.world.mutex.Lock()
	defer l.world.mutex.Unlock()
	list, err := l.world.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	copies := make([]fwk.NodeInfo, len(list))
	for i, info := range list {
		copies[i] = info.Snapshot()
	}
	return copies, nil
}

// PodReference names a pod, in the form of a pod. It leaves out spec and annotations, which require the right to read pods.
type PodReference struct {
	Metadata PodMetadata `json:"metadata"`
}

// PodMetadata is the part of a pod's metadata that names it.
type PodMetadata struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
}

// ReferTo names a pod.
func ReferTo(pod *corev1.Pod) PodReference {
	return PodReference{Metadata: PodMetadata{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}}
}

// nodeInfo is what the scheduler's cache knows of a node.
type nodeInfo struct {
	Name             string              `json:"name"`
	Generation       int64               `json:"generation"`
	Pods             []PodReference      `json:"pods"`
	Requested        corev1.ResourceList `json:"requested"`
	NonZeroRequested corev1.ResourceList `json:"nonZeroRequested"`
	Allocatable      corev1.ResourceList `json:"allocatable"`
}

func nodeAnswer(_ context.Context, call Call) (any, error) {
	info, err := call.Nodes.Get(call.Parameter("nodeName"))
	if err != nil {
		return nil, err
	}
	answer := nodeInfo{
		Name: info.Node().Name, Generation: info.GetGeneration(), Pods: []PodReference{},
		Requested: listOf(info.GetRequested()), NonZeroRequested: listOf(info.GetNonZeroRequested()), Allocatable: listOf(info.GetAllocatable()),
	}
	for _, pod := range info.GetPods() {
		answer.Pods = append(answer.Pods, ReferTo(pod.GetPod()))
	}
	return answer, nil
}

func listOf(amounts fwk.Resource) corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewMilliQuantity(amounts.GetMilliCPU(), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(amounts.GetMemory(), resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(amounts.GetEphemeralStorage(), resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(int64(amounts.GetAllowedPodNumber()), resource.DecimalSI),
	}
	for name, amount := range amounts.GetScalarResources() {
		list[name] = *resource.NewQuantity(amount, resource.DecimalSI)
	}
	return list
}
