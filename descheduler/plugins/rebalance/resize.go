package rebalance

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podresize"
	"koordinator.sh/koord/decision/descheduling/cpulimit"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// limit of a pod. What it used beyond a limit that was lowered is not predicted for it.
func (p *Plugin) limit(v *view, name string, pod *corev1.Pod) *rebalance.CPULimit {
	limit := rebalance.CPULimitOf(pod)
	if r := slices.Index(v.in.Resources, corev1.ResourceCPU); r >= 0 && limit != nil && limit.Before > 0 {
		p.observed.Limit(name, r, limit.Now)
	}
	return limit
}

// resize changes the CPU limits of a pod in place. What gives them back is written before they are lowered, and removed after they were
// given back: whatever fails in between, it is known what they were.
func (p *Plugin) resize(ctx context.Context, v *view, step rebalance.Step) {
	pod := v.pods[step.Pod]
	logger := klog.FromContext(ctx).WithValues("plugin", rebalance.PluginName, "pod", klog.KObj(pod), "node", v.in.Nodes[step.Node].Name, "remedy", step.Remedy, "limit", step.Limit)
	if p.args.DryRun || p.writesNothing() {
		logger.V(1).Info("CPU limit would be changed")
		return
	}
	var err error
	if step.Remedy == rebalance.RestoreCPULimit {
		err = p.restore(ctx, pod)
	} else {
		err = p.lower(ctx, v, step)
	}
	switch {
	case err == nil:
		logger.V(1).Info("Changed a CPU limit in place")
		p.record(v, step)
	case apierrors.IsNotFound(err) || apierrors.IsConflict(err):
		logger.V(2).Info("Did not resize a pod that was replaced", "reason", err.Error())
	default:
		logger.Error(err, "Cannot resize a pod")
	}
}

func (p *Plugin) lower(ctx context.Context, v *view, step rebalance.Step) error {
	pod, usage := v.pods[step.Pod], 0.0
	if r := slices.Index(v.in.Resources, corev1.ResourceCPU); r >= 0 {
		usage = v.in.Pods[step.Pod].Usage[r]
	}
	change := cpulimit.Lower(pod, milli(step.Limit), milli(usage), v.in.Now)
	if err := p.annotate(ctx, pod, change.Lowered); err != nil {
		return err
	}
	return p.patchLimits(ctx, pod, change.Containers)
}

func (p *Plugin) restore(ctx context.Context, pod *corev1.Pod) error {
	if err := p.patchLimits(ctx, pod, cpulimit.Restore(pod).Containers); err != nil {
		return err
	}
	return p.annotate(ctx, pod, nil)
}

func milli(cores float64) int64 { return int64(math.Round(cores * 1000)) }

// annotate writes what gives a pod its limits back; nil removes it. The UID keeps it from a new pod of the same name.
func (p *Plugin) annotate(ctx context.Context, pod *corev1.Pod, lowered *extension.LoweredCPULimits) error {
	var value any
	if lowered != nil {
		text := &metav1.ObjectMeta{}
		if err := extension.SetLoweredCPULimits(text, lowered); err != nil {
			return err
		}
		value = text.Annotations[extension.AnnotationLoweredCPULimits]
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID, "annotations": map[string]any{extension.AnnotationLoweredCPULimits: value}}})
	if err != nil {
		return fmt.Errorf("encode annotation %s: %w", extension.AnnotationLoweredCPULimits, err)
	}
	if _, err := p.handle.ClientSet().CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("patch pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

func (p *Plugin) patchLimits(ctx context.Context, pod *corev1.Pod, containers []podresize.Container) error {
	patch, err := podresize.Patch(pod, containers)
	if err != nil {
		return err
	}
	if _, err := p.handle.ClientSet().CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "resize"); err != nil {
		return fmt.Errorf("resize pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// record an event on the pod, for those who wonder why a job became slower.
func (p *Plugin) record(v *view, step rebalance.Step) {
	if p.sources.Recorder == nil {
		return
	}
	pod, node := &v.in.Pods[step.Pod], v.in.Nodes[step.Node].Name
	from, to := cores(pod.Limit.Now), cores(step.Limit)
	if step.Remedy == rebalance.RestoreCPULimit {
		p.sources.Recorder.Eventf(v.pods[step.Pod], nil, corev1.EventTypeNormal, "CPULimitRestored", "Resizing", "the CPU limit was given back, %s instead of %s", to, from)
		return
	}
	p.sources.Recorder.Eventf(v.pods[step.Pod], nil, corev1.EventTypeNormal, "CPULimitLowered", "Resizing",
		"the CPU limit was lowered from %s to %s, because node %s is overutilized; it is given back when the load has fallen", from, to, node)
}

func cores(amount float64) string {
	return resource.NewMilliQuantity(milli(amount), resource.DecimalSI).String()
}
