package nodefit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/refusals"
)

// Cordon refuses a cordoned node, unless the pod tolerates cordons.
func Cordon(pod *corev1.Pod, node *corev1.Node) (refusals.Refusal, bool) {
	taint := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if !node.Spec.Unschedulable || schedulinghelper.TolerationsTolerateTaint(klog.Logger{}, pod.Spec.Tolerations, &taint, false) {
		return refusals.Refusal{}, false
	}
	return refusals.Refusal{
		Plugin: NodeUnschedulable, Code: codes[NodeUnschedulable], Final: true, Reason: "node(s) were unschedulable", Phrase: "were unschedulable", Distance: 1,
		Describe: says("the node is cordoned"),
	}, true
}

// Tolerates is true for a pod that tolerates a taint, of whatever effect.
func Tolerates(pod *corev1.Pod, taint *corev1.Taint) bool {
	return schedulinghelper.TolerationsTolerateTaint(klog.Logger{}, pod.Spec.Tolerations, taint, false)
}

// Untolerated lists the taints that keep a pod off a node. Comparison is true where tolerations may compare numbers.
func Untolerated(pod *corev1.Pod, node *corev1.Node, comparison bool) []corev1.Taint {
	var taints []corev1.Taint
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectNoSchedule && taint.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		if !schedulinghelper.TolerationsTolerateTaint(klog.Logger{}, pod.Spec.Tolerations, taint, comparison) {
			taints = append(taints, *taint)
		}
	}
	return taints
}

// Taints refuses a node with a taint that the pod does not tolerate. The one of a cordon says nothing that Cordon does not.
func Taints(pod *corev1.Pod, node *corev1.Node, comparison bool) (refusals.Refusal, bool) {
	taints := Untolerated(pod, node, comparison)
	if node.Spec.Unschedulable {
		taints = slices.DeleteFunc(taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
	}
	if len(taints) == 0 {
		return refusals.Refusal{}, false
	}
	first := taints[0].ToString()
	return refusals.Refusal{
		Plugin: TaintToleration, Code: codes[TaintToleration], Final: true, Reason: "node(s) had untolerated taint(s)", Key: first, Phrase: "had untolerated taint " + first,
		Distance: float64(len(taints)),
		Describe: func() (string, []diagnosticsv1alpha1.Term) {
			if others := len(taints) - 1; others > 0 {
				return fmt.Sprintf("the pod does not tolerate the taint %s and %d more", first, others), nil
			}
			return "the pod does not tolerate the taint " + first, nil
		},
	}, true
}

// Affinity is the refusal of a node that the pod's node selector or node affinity excludes. It names the first selector or
// requirement that the node does not match.
func Affinity(pod *corev1.Pod, node *corev1.Node) refusals.Refusal {
	refusal := refusals.Refusal{
		Plugin: NodeAffinity, Code: codes[NodeAffinity], Final: true, Reason: "node(s) didn't match Pod's node affinity/selector",
		Phrase: "didn't match Pod's node affinity/selector", Distance: 1, Describe: says("the node does not match the pod's node affinity"),
	}
	key, message := mismatch(pod, node)
	if key != "" {
		refusal.Key, refusal.Phrase, refusal.Describe = key, refusal.Phrase+" ("+key+")", says(message)
	}
	return refusal
}

func mismatch(pod *corev1.Pod, node *corev1.Node) (key, message string) {
	for _, label := range slices.Sorted(maps.Keys(pod.Spec.NodeSelector)) {
		if want := pod.Spec.NodeSelector[label]; node.Labels[label] != want {
			key = label + "=" + want
			return key, fmt.Sprintf("the pod selects %s, the node has %s", key, labelOf(node, label))
		}
	}
	required := RequiredAffinity(pod)
	if required == nil {
		return "", ""
	}
	for _, term := range required.NodeSelectorTerms {
		for _, requirement := range term.MatchExpressions {
			if !matches(node, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{requirement}}) {
				key = requirementText(requirement)
				return key, fmt.Sprintf("the pod requires %s, the node has %s", key, labelOf(node, requirement.Key))
			}
		}
		for _, requirement := range term.MatchFields { // of which there is one, the name
			if !matches(node, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{requirement}}) {
				key = requirementText(requirement)
				return key, fmt.Sprintf("the pod requires %s, the node is %s", key, node.Name)
			}
		}
	}
	return "", ""
}

// RequiredAffinity is the node affinity that a pod requires, nil for none.
func RequiredAffinity(pod *corev1.Pod) *corev1.NodeSelector {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func matches(node *corev1.Node, term corev1.NodeSelectorTerm) bool {
	selector := nodeaffinity.NewLazyErrorNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}})
	matched, err := selector.Match(node)
	return err == nil && matched
}

func requirementText(requirement corev1.NodeSelectorRequirement) string {
	if len(requirement.Values) == 0 {
		return fmt.Sprintf("%s %s", requirement.Key, requirement.Operator)
	}
	return fmt.Sprintf("%s %s [%s]", requirement.Key, requirement.Operator, strings.Join(requirement.Values, " "))
}

func labelOf(node *corev1.Node, key string) string {
	if value, found := node.Labels[key]; found {
		return key + "=" + value
	}
	return "no label " + key
}

// OtherNode is the refusal of a node that the pod's node name excludes.
func OtherNode(pod *corev1.Pod) refusals.Refusal {
	return refusals.Refusal{
		Plugin: NodeName, Code: codes[NodeName], Final: true, Reason: "node(s) didn't match the requested node name", Phrase: "didn't match the requested node name",
		Distance: 1, Describe: says(fmt.Sprintf("the pod requests node %s", pod.Spec.NodeName)),
	}
}
