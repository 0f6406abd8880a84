package recommend

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/core/podresize"
)

// ResizeOptions bound how fast running pods are changed.
type ResizeOptions struct {
	// BudgetPercent of a target's pods, at least one, may be resized within Interval.
	BudgetPercent int
	// MostPods may be resized within Interval, whatever the percentage.
	MostPods int
	Interval time.Duration
	// CoolDown is how long a pod is left alone after it was resized.
	CoolDown time.Duration
}

// DefaultResizeOptions are a tenth of the pods and at most 20 in 10 minutes, and each pod once an hour.
func DefaultResizeOptions() ResizeOptions {
	return ResizeOptions{BudgetPercent: 10, MostPods: 20, Interval: 10 * time.Minute, CoolDown: time.Hour}
}

// ResizeInput is what a plan depends on.
type ResizeInput struct {
	At      time.Time
	Options ResizeOptions
	// Pods of the target.
	Pods []*corev1.Pod
	// Recommendations by container; those without confidence are not applied.
	Recommendations map[string]Recommendation
	// Applied is when pods were resized last.
	Applied map[types.UID]time.Time
	// Autoscalers of the namespace, to which the resources are left that they set or scale by.
	Autoscalers Autoscalers
}

// Resize is what to change about a pod.
type Resize struct {
	Pod        *corev1.Pod
	Containers []podresize.Container
	// urgent is set when memory is too small.
	urgent bool
}

// Skip is a pod that is left as it is, and why.
type Skip struct {
	Pod    *corev1.Pod
	Reason string
}

// Reasons of a Skip; that of pods whose resources are left to autoscalers is the Sentence of these. Pods within their bounds are skipped
// without one.
const (
	SkipNotRunning  = "it does not run"
	SkipUnderWay    = "a resize is under way"
	SkipCoolDown    = "it was resized lately"
	SkipBudget      = "the budget is used up"
	SkipNoInPlace   = "nothing of it can be changed in place"
	SkipNode        = "its node cannot resize pods"
	SkipUncertainty = "its usage was observed for less than a day"
	SkipFewRuns     = "fewer than 10 runs of its job are known"
)

// ResizePlan is what to do now.
type ResizePlan struct {
	Resizes []Resize
	Skipped []Skip
	// Budget is how many pods may be resized within the interval, and Used how many were, before this plan.
	Budget, Used int
}

// Resizes plans which pods to bring to their targets now: those whose requests are outside of the bounds, pods with too little
// memory first, as many as the budget allows.
func Resizes(in ResizeInput) ResizePlan {
	plan := ResizePlan{Budget: budget(in.Options, len(in.Pods))}
	var wanted []Resize
	for _, pod := range in.Pods {
		if inFlight(in, pod) {
			plan.Used++
		}
		resize, reason := consider(in, pod)
		switch {
		case reason != "":
			plan.Skipped = append(plan.Skipped, Skip{pod, reason})
		case len(resize.Containers) > 0:
			wanted = append(wanted, resize)
		}
	}
	slices.SortFunc(wanted, func(a, b Resize) int {
		if a.urgent != b.urgent {
			return map[bool]int{true: -1, false: 1}[a.urgent]
		}
		return cmp.Or(cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name))
	})
	room := min(max(plan.Budget-plan.Used, 0), len(wanted))
	plan.Resizes = wanted[:room]
	for _, resize := range wanted[room:] {
		plan.Skipped = append(plan.Skipped, Skip{resize.Pod, SkipBudget})
	}
	return plan
}

func budget(o ResizeOptions, pods int) int {
	return max(min(pods*o.BudgetPercent/100, o.MostPods), 1)
}

// inFlight says whether a pod uses up the budget.
func inFlight(in ResizeInput, pod *corev1.Pod) bool {
	at, ok := in.Applied[pod.UID]
	return ok && in.At.Sub(at) < in.Options.Interval || podresize.UnderWay(pod)
}

// doubt is the reason to leave a pod alone whose recommendation is not confident.
func (r *Recommendation) doubt() string {
	if r.OfJob {
		return SkipFewRuns
	}
	return SkipUncertainty
}

// consider says what to change about a pod, or why not.
func consider(in ResizeInput, pod *corev1.Pod) (Resize, string) {
	at, applied := in.Applied[pod.UID]
	switch {
	case pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning:
		return Resize{}, SkipNotRunning
	case podresize.UnderWay(pod):
		return Resize{}, SkipUnderWay
	case !podresize.Supported(pod):
		return Resize{}, SkipNode
	case pod.Spec.Resources != nil:
		return Resize{}, SkipNoInPlace
	case applied && in.At.Sub(at) < in.Options.CoolDown:
		return Resize{}, SkipCoolDown
	}
	return changes(in, pod)
}

// changes says what to change about a pod that can be resized now, or why not.
func changes(in ResizeInput, pod *corev1.Pod) (Resize, string) {
	out, autoscalers := Resize{Pod: pod}, in.Autoscalers.of(pod)
	var left holds
	doubt, confident, changeable := "", false, false
	sidecars := podresize.Sidecars(pod)
	for i, c := range podresize.Containers(pod) {
		recommendation, ok := in.Recommendations[c.Name]
		if !ok {
			continue
		}
		if !recommendation.Confident() {
			doubt = recommendation.doubt()
			continue
		}
		confident = true
		change := podresize.Container{Name: c.Name, Sidecar: i < sidecars}
		cpu := noteUnlessHeld(&change, &left, autoscalers, pod, c, corev1.ResourceCPU, recommendation.CPU)
		memory := noteUnlessHeld(&change, &left, autoscalers, pod, c, corev1.ResourceMemory, recommendation.Memory)
		changeable = changeable || cpu || memory
		if len(change.Requests) > 0 {
			_, more := change.Requests[corev1.ResourceMemory]
			out.urgent = out.urgent || more
			out.Containers = append(out.Containers, change)
		}
	}
	switch {
	case doubt != "" && !confident:
		return Resize{}, doubt
	case confident && !changeable:
		return Resize{}, SkipNoInPlace
	case len(out.Containers) == 0 && len(left) > 0:
		return Resize{}, Sentence(left.sorted())
	}
	return out, ""
}
