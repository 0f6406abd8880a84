package deviceshare

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/recovery"
)

const lockKey fwk.StateKey = "koordinator.sh/" + Name + "/lock"

const (
	// lockAttempts bounds the writes of a lock to a node that others change at the same time.
	lockAttempts = 5
	// unlockTimeout bounds the requests after a binding that failed.
	unlockTimeout = 5 * time.Second
)

// locking is the wish of a cycle to lock the node, and whether it did.
type locking struct {
	key  string
	text atomic.Pointer[string]
}

// Clone implements StateData. Both are about the same lock.
func (l *locking) Clone() fwk.StateData { return l }

func lockingOf(state fwk.CycleState) *locking {
	data, err := state.Read(lockKey)
	if err != nil {
		return nil
	}
	found, _ := data.(*locking)
	return found
}

// PreBindPreFlight skips every pod for which the node need not be locked: DefaultPreBind writes the annotations.
func (p *Plugin) PreBindPreFlight(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ string) (result *fwk.PreBindPreFlightResult, status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreBind, pod, &status)
	if lockingOf(state) == nil {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	return nil, nil
}

// PreBind locks the node, for device plugins that can serve one pod at a time. A node that was locked meanwhile fails the
// pod, which is tried again.
func (p *Plugin) PreBind(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreBind, pod, &status)
	wanted := lockingOf(state)
	if wanted == nil {
		return nil
	}
	text := device.Lock{Since: p.now().UTC(), Namespace: pod.Namespace, Pod: pod.Name}.String()
	err := p.editNode(ctx, node, wanted.key, func(before string) (*string, error) {
		if p.lockedFor(before, pod.Namespace, pod.Name) {
			return nil, errLocked(node, before)
		}
		return &text, nil
	})
	if err != nil {
		return fwk.AsStatus(fmt.Errorf("lock the node for the device plugin: %w", err))
	}
	wanted.text.Store(&text)
	return nil
}

// editNode replaces an annotation of a node, provided that the node has not changed since it was read. A change to nil removes
// it.
func (p *Plugin) editNode(ctx context.Context, name, key string, change func(before string) (*string, error)) error {
	nodes := p.handle.ClientSet().CoreV1().Nodes()
	for attempt := 1; ; attempt++ {
		node, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("read node %s: %w", name, err)
		}
		after, err := change(node.Annotations[key])
		if err != nil {
			return err
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"resourceVersion": node.ResourceVersion, "annotations": map[string]*string{key: after},
		}})
		if err != nil {
			return fmt.Errorf("encode annotation %q: %w", key, err)
		}
		_, err = nodes.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err == nil || !apierrors.IsConflict(err) || attempt == lockAttempts {
			if err != nil {
				return fmt.Errorf("annotate node %s: %w", name, err)
			}
			return nil
		}
	}
}

// unlock takes back PreBind when the pod was not bound, so that the node does not stay locked until the lock ends. A
// binding that failed may have succeeded without word of it: then the device plugin needs the lock, and removes it.
func (p *Plugin) unlock(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) {
	wanted := lockingOf(state)
	if wanted == nil || wanted.text.Load() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
	defer cancel()
	present, err := p.handle.ClientSet().CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	if err == nil && present.UID == pod.UID && present.Spec.NodeName != "" {
		return
	}
	if err == nil || apierrors.IsNotFound(err) {
		own := *wanted.text.Load()
		err = p.editNode(ctx, node, wanted.key, func(before string) (*string, error) {
			if before != own {
				return nil, errLocked(node, before)
			}
			return nil, nil
		})
	}
	if err != nil {
		klog.FromContext(ctx).Info("A node stays locked for its device plugin until the lock ends", "node", node, "pod", klog.KObj(pod), "err", err)
	}
}
