package objects

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/cpulimit"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// throttled is what a pod uses whose CPU limit was lowered: at most its limit, also where its NodeMetric is older. What it no longer uses is
// taken from the usage of its node.
func throttled(resources []corev1.ResourceName, used []float64, limit *rebalance.CPULimit, ofNode []float64) []float64 {
	r := slices.Index(resources, corev1.ResourceCPU)
	if r < 0 || limit == nil || limit.Before == 0 || r >= len(used) || used[r] <= limit.Now {
		return used
	}
	out := slices.Clone(used)
	out[r] = limit.Now
	ofNode[r] -= used[r] - limit.Now
	return out
}

// remedy lists what a plan does beside moves, and resizes pods for the rounds that follow.
func (p *plannedRebalance) remedy(f *forecast, number int, v *rebalanceView, plan rebalance.Plan, trace *rebalance.Trace) {
	resizes := trace.Resizes
	for _, step := range plan.Steps {
		one := diagnosticsv1alpha1.ForecastRemedy{
			Round: int32(number + 1), Seconds: int64(f.at(number).Sub(f.in.Now).Seconds()), Profile: p.profile.Name, Remedy: string(step.Remedy), Node: v.in.Nodes[step.Node].Name,
		}
		if step.Pod >= 0 {
			one.Namespace, one.Name = v.pods[step.Pod].Namespace, v.pods[step.Pod].Name
		}
		switch step.Remedy {
		case rebalance.Migrate:
			continue
		case rebalance.HoldBack:
			one.Reason = "koordlet holds best-effort pods back"
		case rebalance.DeletionCost:
			one.Reason = "its workload scales down: the pod is removed first"
		case rebalance.LowerCPULimit, rebalance.RestoreCPULimit:
			one.BeforeMilliCPU, one.AfterMilliCPU = inUnit(corev1.ResourceCPU, resizes[0].From), inUnit(corev1.ResourceCPU, resizes[0].To)
			one.Reason = loadText(&resizes[0])
			resizes = resizes[1:]
			f.resize(v.pods[step.Pod], one.Node, step)
		}
		if key := fmt.Sprint(one.Remedy, one.Node, one.Namespace, one.Name, one.AfterMilliCPU); !p.remedies[key] {
			p.remedies[key] = true
			f.answer.Remedies = append(f.answer.Remedies, one)
		}
	}
}

func loadText(r *rebalance.ResizeTrace) string {
	switch {
	case r.Before == 0 && r.After == 0:
		return "the load of the node is not known"
	case r.Remedy == rebalance.RestoreCPULimit:
		return fmt.Sprintf("the node has room: its cpu usage rises from %.1f%% to at most %.1f%%", 100*r.Before, 100*r.After)
	}
	return fmt.Sprintf("cpu usage of the node falls from %.1f%% to %.1f%%", 100*r.Before, 100*r.After)
}

// resize gives a pod other limits. One that gets its limits back uses what it used before.
func (f *forecast) resize(pod *corev1.Pod, node string, step rebalance.Step) {
	change := cpulimit.Restore(pod)
	if step.Remedy == rebalance.LowerCPULimit {
		change = cpulimit.Lower(pod, inUnit(corev1.ResourceCPU, step.Limit), f.usageOf(pod, node), f.at(f.number))
	} else if before := cpulimit.Of(pod).Usage; before > f.usageOf(pod, node) {
		f.use(pod, node, before)
	}
	resized, err := change.Apply(pod)
	if err != nil {
		f.note(fmt.Sprintf("pod %s/%s: %v", pod.Namespace, pod.Name, err))
		return
	}
	f.pods[node] = slices.Clone(f.pods[node])
	for i, other := range f.pods[node] {
		if other == pod {
			f.pods[node][i] = resized
		}
	}
}

// usageOf a pod in milli-cores; 0 where it is not reported.
func (f *forecast) usageOf(pod *corev1.Pod, node string) int64 {
	if info := f.infoOf(pod, node); info != nil {
		cpu := info.PodUsage.ResourceList[corev1.ResourceCPU]
		return cpu.MilliValue()
	}
	return 0
}

// use sets what a pod is reported to use.
func (f *forecast) use(pod *corev1.Pod, node string, milli int64) {
	if info := f.infoOf(pod, node); info != nil && info.PodUsage.ResourceList != nil {
		info.PodUsage.ResourceList[corev1.ResourceCPU] = *resource.NewMilliQuantity(milli, resource.DecimalSI)
	}
}

func (f *forecast) infoOf(pod *corev1.Pod, node string) *slov1alpha1.PodMetricInfo {
	metric := f.metrics[node]
	if metric == nil {
		return nil
	}
	at := slices.IndexFunc(metric.Status.PodsMetric, func(info *slov1alpha1.PodMetricInfo) bool {
		return info != nil && info.Namespace == pod.Namespace && info.Name == pod.Name
	})
	if at < 0 {
		return nil
	}
	return metric.Status.PodsMetric[at]
}
