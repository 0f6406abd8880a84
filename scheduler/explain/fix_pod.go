package explain

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// reductions proposes, for each resource that alone keeps nodes from passing, to ask for what the roomiest of them has.
func (s *simulation) reductions(e *evaluation) []candidate {
	type room struct {
		shortage nodefit.Shortage
		node     string
	}
	roomiest := map[corev1.ResourceName]room{}
	for i, info := range e.nodes {
		if len(e.refusals[i]) != 1 || e.refusals[i][0].plugin != names.NodeResourcesFit {
			continue
		}
		shortage, found := shortageOf(e.pod, e.filtered[i], e.refusals[i][0].reason)
		if !found || shortage.Resource == corev1.ResourcePods || shortage.Free() == 0 {
			continue
		}
		if best, known := roomiest[shortage.Resource]; !known || shortage.Free() > best.shortage.Free() {
			roomiest[shortage.Resource] = room{shortage, info.Node().Name}
		}
	}
	var list []candidate
	for _, name := range slices.Sorted(maps.Keys(roomiest)) {
		list = append(list, reduction(e.pod, roomiest[name].shortage, roomiest[name].node))
	}
	return list
}

func reduction(pod *corev1.Pod, s nodefit.Shortage, node string) candidate {
	return shrinking(pod, s.Resource, s.Asked, s.Free(), node)
}

// withRequest scales every request of a resource down, so that the pod asks for total in place of asked; what is lost by rounding
// goes to the container that asks for most. Limits that equal their request follow it.
func withRequest(pod *corev1.Pod, name corev1.ResourceName, asked, total int64) *corev1.Pod {
	edited := pod.DeepCopy()
	overhead := amount.Of(name, edited.Spec.Overhead[name])
	factor := share{max(total-overhead, 0), max(asked-overhead, 1)}
	if edited.Spec.Resources != nil {
		scaleResource(edited.Spec.Resources, name, factor)
	}
	for _, containers := range [][]corev1.Container{edited.Spec.InitContainers, edited.Spec.Containers} {
		for i := range containers {
			scaleResource(&containers[i].Resources, name, factor)
		}
	}
	giveRest(edited, pod, name, total)
	return edited
}

// giveRest adds what the containers lost by rounding to the one that asks for most.
func giveRest(edited, original *corev1.Pod, name corev1.ResourceName, total int64) {
	rest := total - requestOf(edited, name)
	if rest <= 0 || len(edited.Spec.Containers) < 2 || edited.Spec.Resources != nil {
		return
	}
	asked := func(i int) int64 { return amount.Of(name, edited.Spec.Containers[i].Resources.Requests[name]) }
	most := slices.MaxFunc(indices(edited.Spec.Containers), func(a, b int) int { return cmp.Compare(asked(a), asked(b)) })
	before := original.Spec.Containers[most].Resources.Requests[name]
	if raised := asked(most) + rest; raised <= amount.Of(name, before) {
		setAmount(&edited.Spec.Containers[most].Resources, name, raised)
	}
}

func indices[T any](list []T) []int {
	numbers := make([]int, len(list))
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// share is a factor of at most 1, as a fraction.
type share struct{ numerator, denominator int64 }

// of is that share of an amount, rounded down. It is exact where floating point is not: with bytes of memory.
func (s share) of(amount int64) int64 {
	if amount <= 0 || s.numerator <= 0 {
		return 0
	}
	if s.numerator >= s.denominator {
		return amount
	}
	high, low := bits.Mul64(uint64(amount), uint64(s.numerator))
	quotient, _ := bits.Div64(high, low, uint64(s.denominator)) // no larger than amount, because the share is below 1
	return int64(quotient)
}

func scaleResource(resources *corev1.ResourceRequirements, name corev1.ResourceName, factor share) {
	before, found := resources.Requests[name]
	if !found {
		return
	}
	setAmount(resources, name, factor.of(amount.Of(name, before)))
}

// setAmount replaces a request. A limit that equals it follows.
func setAmount(resources *corev1.ResourceRequirements, name corev1.ResourceName, amount int64) {
	before := resources.Requests[name]
	after := *resource.NewQuantity(amount, before.Format)
	if name == corev1.ResourceCPU {
		after = *resource.NewMilliQuantity(amount, before.Format)
	}
	resources.Requests[name] = after
	if limit, limited := resources.Limits[name]; limited && limit.Cmp(before) == 0 {
		resources.Limits[name] = after
	}
}

// maxTolerations bounds the taints that one change tolerates.
const maxTolerations = 3

// tolerations proposes to tolerate the taints that keep the pod off nodes. Taints that say a node is not well are left alone.
func tolerations(e *evaluation) []candidate {
	proposed := map[string]bool{}
	var list []candidate
	for i, info := range e.nodes {
		if !refusedBy(e.refusals[i], names.TaintToleration) {
			continue
		}
		taints := nodefit.Untolerated(e.pod, info.Node(), comparesTolerations())
		sick := slices.ContainsFunc(taints, ofNodeHealth)
		if e.partial {
			taints = slices.DeleteFunc(taints, ofNodeHealth)
		}
		if len(taints) == 0 || len(taints) > maxTolerations || sick && !e.partial {
			continue
		}
		if c := tolerating(e.pod, taints, info.Node().Name); !proposed[c.fix.Description] {
			proposed[c.fix.Description] = true
			list = append(list, c)
		}
	}
	return keepCheapest(list, 8)
}

func ofNodeHealth(taint corev1.Taint) bool {
	return strings.HasPrefix(taint.Key, "node.kubernetes.io/")
}

func tolerating(pod *corev1.Pod, taints []corev1.Taint, node string) candidate {
	edited, texts := pod.DeepCopy(), make([]string, len(taints))
	for i, taint := range taints {
		edited.Spec.Tolerations = append(edited.Spec.Tolerations, corev1.Toleration{
			Key: taint.Key, Operator: corev1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect,
		})
		texts[i] = taint.ToString()
	}
	slices.Sort(texts)
	description := "add a toleration for taint " + texts[0]
	if len(taints) > 1 {
		description = "add tolerations for taints " + strings.Join(texts, " and ")
	}
	return candidate{
		cost: costToleration * float64(len(taints)), pod: edited,
		fix: diagnosticsv1alpha1.Fix{Target: diagnosticsv1alpha1.FixPod, Kind: "addToleration", Node: node, Description: description, Steps: []diagnosticsv1alpha1.FixStep{tolerationStep(pod, edited.Spec.Tolerations[len(pod.Spec.Tolerations):])}},
	}
}

// selectors proposes to drop one node selector, or the required node affinity, that keeps the pod off nodes.
func selectors(e *evaluation) []candidate {
	var list []candidate
	for _, key := range slices.Sorted(maps.Keys(e.pod.Spec.NodeSelector)) {
		edited := e.pod.DeepCopy()
		delete(edited.Spec.NodeSelector, key)
		list = append(list, dropped(e, edited, fmt.Sprintf("remove node selector %s=%s", key, e.pod.Spec.NodeSelector[key]))...)
	}
	if nodefit.RequiredAffinity(e.pod) != nil {
		edited := e.pod.DeepCopy()
		edited.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		list = append(list, dropped(e, edited, "remove the required node affinity")...)
	}
	return keepCheapest(list, 8)
}

// dropped finds a node that only the dropped rule refuses.
func dropped(e *evaluation, edited *corev1.Pod, description string) []candidate {
	wanted := nodeaffinity.GetRequiredNodeAffinity(edited)
	for i, info := range e.nodes {
		if !refusedBy(e.refusals[i], names.NodeAffinity) {
			continue
		}
		if matched, err := wanted.Match(info.Node()); err != nil || !matched {
			continue
		}
		return []candidate{{
			cost: costSelector, pod: edited,
			fix: diagnosticsv1alpha1.Fix{
				Target: diagnosticsv1alpha1.FixPod, Kind: "removeNodeSelector", Node: info.Node().Name, Description: description,
			},
		}}
	}
	return nil
}
