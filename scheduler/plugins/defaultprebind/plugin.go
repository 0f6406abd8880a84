package defaultprebind

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/recovery"
)

// Name of the plugin.
const Name = "DefaultPreBind"

// Plugin implements DefaultPreBind for one profile. It is safe for concurrent use.
type Plugin struct {
	handle fwk.Handle
	// binds is true when the profile also lets the plugin bind.
	binds func() bool
	now   func() time.Time
}

var (
	_ fwk.PreBindPlugin = &Plugin{}
	_ fwk.BindPlugin    = &Plugin{}
)

// New is the plugin's factory. It takes no arguments.
func New(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	plugin := &Plugin{handle: handle, now: time.Now}
	plugin.binds = sync.OnceValue(func() bool {
		built, ok := handle.(framework.Framework)
		return ok && slices.ContainsFunc(built.ListPlugins().Bind.Enabled, func(p config.Plugin) bool { return p.Name == Name })
	})
	return plugin, nil
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// PreBindPreFlight skips pods for which nothing is to be written before the binding.
func (p *Plugin) PreBindPreFlight(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ string) (result *fwk.PreBindPreFlightResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreBind, pod, &status)
	if reservation.IsReservePod(pod) || len(p.ahead(state, pod)) == 0 { // the plugin of that name writes the Reservation
		return nil, fwk.NewStatus(fwk.Skip)
	}
	return nil, nil
}

// ahead is the metadata to be patched before the binding: labels, and the annotations unless the Binding carries them.
func (p *Plugin) ahead(state fwk.CycleState, pod *corev1.Pod) map[string]any {
	metadata := map[string]any{}
	if wanted := labels(state); len(wanted) > 0 {
		metadata["labels"] = wanted
	}
	if !p.binds() {
		if annotations := toWrite(state, pod, p.now()); annotations != nil {
			metadata["annotations"] = patchOf(annotations)
		}
	}
	return metadata
}

// PreBind sends what is to be written ahead in one merge patch, on the condition that the pod is still the same.
func (p *Plugin) PreBind(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, _ string) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreBind, pod, &status)
	metadata := p.ahead(state, pod)
	metadata["uid"] = pod.UID
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return fwk.AsStatus(fmt.Errorf("encode the annotations of pod %s/%s: %w", pod.Namespace, pod.Name, err))
	}
	_, err = p.handle.ClientSet().CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return fwk.AsStatus(fmt.Errorf("annotate pod %s/%s with its allocations: %w", pod.Namespace, pod.Name, err))
	}
	return nil
}

// Bind binds pods that have something to be written, and leaves the others to the next binder.
func (p *Plugin) Bind(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodeName string) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Bind, pod, &status)
	annotations := toWrite(state, pod, p.now())
	if annotations == nil {
		return fwk.NewStatus(fwk.Skip)
	}
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Annotations: annotations},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodeName},
	}
	if cacher := p.handle.APICacher(); cacher != nil {
		finished, err := cacher.BindPod(binding)
		if err == nil {
			err = cacher.WaitOnFinish(ctx, finished)
		}
		return fwk.AsStatus(err)
	}
	if err := p.handle.ClientSet().CoreV1().Pods(pod.Namespace).Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fwk.AsStatus(fmt.Errorf("bind pod %s/%s with its allocations to node %s: %w", pod.Namespace, pod.Name, nodeName, err))
	}
	return nil
}
