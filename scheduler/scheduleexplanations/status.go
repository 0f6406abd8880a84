package scheduleexplanations

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
)

// Answer is what the scheduler says of one pod. It stands for all pods that ask for the same.
type Answer struct {
	// Pods that the answer is about; the scheduler was asked about the first.
	Pods []*corev1.Pod
	// Status is the answer. It must list all nodes, not only the closest.
	Status *diagnosticsv1alpha1.PodExplanationStatus
	// Told is the part of Status that the readers may see, with the same groups; nil is all of it. Texts and names are taken from it.
	Told *diagnosticsv1alpha1.PodExplanationStatus
}

func (a Answer) told() *diagnosticsv1alpha1.PodExplanationStatus {
	if a.Told == nil {
		return a.Status
	}
	return a.Told
}

// Findings are the answers to one question.
type Findings struct {
	// Answers about pods that have no node.
	Answers []Answer
	// Settled pods have a node, or have finished.
	Settled []*corev1.Pod
	// Unasked counts pods about which the scheduler was not asked, because there were too many different kinds of pods.
	Unasked int
	// TopologyKey is the node label by whose values the answer is split; empty for the whole cluster.
	TopologyKey string
	// Domains of the nodes, by name; read only with a TopologyKey.
	Domains map[string]string
	// Victims are the pods, by namespace/name, among which those that would be evicted are looked up.
	Victims func(namespace, name string) *corev1.Pod
}

// StatusOf translates findings into the status of a ScheduleExplanation, without the time. It has one detail for the
// whole cluster, or one for each topology domain; it has none only when there are no pods. Node names are bounded to
// maxNodeNames in all.
func StatusOf(findings Findings) schedulingv1alpha1.ScheduleExplanationStatus {
	if len(findings.Answers) == 0 && len(findings.Settled) == 0 {
		return schedulingv1alpha1.ScheduleExplanationStatus{}
	}
	status := schedulingv1alpha1.ScheduleExplanationStatus{
		Schedulable: everyAnswer(findings, anywhere, Answer.schedulable), FailedMessage: findings.message(),
	}
	if !status.Schedulable {
		status.SchedulableAfterPreemption = everyAnswer(findings, anywhere, Answer.schedulableAfterPreemption)
	}
	domains := findings.domains()
	for _, domain := range domains[:min(len(domains), maxDomains)] {
		status.DetailedExplanation = append(status.DetailedExplanation, findings.detail(domain))
	}
	bound(&status)
	return status
}

// region is a part of the cluster.
type region struct {
	name string
	// nodes of the region; nil for all.
	nodes map[string]bool
}

var anywhere = region{}

func (r region) has(node string) bool { return r.nodes == nil || r.nodes[node] }

// everyAnswer is true when a condition holds for all pods that are not settled. Nothing is claimed of pods that were not
// asked about, and failed pods are not schedulable.
func everyAnswer(f Findings, in region, holds func(Answer, region) bool) bool {
	return f.Unasked == 0 && len(f.Answers)+f.placedPods() > 0 && !slices.ContainsFunc(f.Answers, func(a Answer) bool { return !holds(a, in) })
}

// placedPods counts the settled pods that have a node.
func (f Findings) placedPods() int {
	count := 0
	for _, pod := range f.Settled {
		if pod.Spec.NodeName != "" && !podstate.Ended(pod) {
			count++
		}
	}
	return count
}

// message says in one sentence why there is no place, and what would make one.
func (f Findings) message() string {
	var parts []string
	for _, answer := range f.Answers {
		if answer.schedulable(anywhere) {
			continue
		}
		parts = append(parts, answer.prefix(f)+answer.message())
	}
	if len(parts) == 0 && f.waiting() > 1 {
		parts = append(parts, fmt.Sprintf("each of %d pods finds a node by itself; whether all of them do at once was not tried", f.waiting()))
	}
	if f.Unasked > 0 {
		parts = append(parts, fmt.Sprintf("%d more pods with other specs were not evaluated", f.Unasked))
	}
	if len(f.Answers) == 0 && f.Unasked == 0 && f.placedPods() == 0 {
		parts = append(parts, finishedMessage(f.Settled))
	}
	return strings.Join(parts, "; ")
}

func (f Findings) waiting() int {
	count := f.Unasked
	for _, answer := range f.Answers {
		count += len(answer.Pods)
	}
	return count
}

func finishedMessage(pods []*corev1.Pod) string {
	if len(pods) == 1 {
		return podstate.Ending(pods[0])
	}
	return fmt.Sprintf("all %d pods have finished", len(pods))
}

// prefix names the pods of an answer, unless there is only one pod.
func (a Answer) prefix(f Findings) string {
	total := f.waiting() + len(f.Settled)
	if total == 1 {
		return ""
	}
	name := a.Pods[0].Namespace + "/" + a.Pods[0].Name
	if len(a.Pods) == 1 {
		return fmt.Sprintf("pod %s of %d: ", name, total)
	}
	return fmt.Sprintf("%d of %d pods, such as %s: ", len(a.Pods), total, name)
}

// message is the summary with its code and the fix, and with the number of the pods that would be evicted where not all are named.
func (a Answer) message() string {
	told := a.told()
	message := strings.TrimSuffix(told.Summary, ".")
	if told.Code != "" {
		message += " [" + told.Code + "]"
	}
	if fix := told.Fix; fix != nil && fix.Verified {
		message += "; it would be schedulable if you " + fix.Description
	}
	if found := a.preemption(); found != nil && len(told.Preemption.Victims) < len(found.Victims) {
		message += "; " + told.Preemption.Message
	}
	return message
}

// schedulable is true when a node of the region passes.
func (a Answer) schedulable(in region) bool {
	switch a.Status.Verdict {
	case diagnosticsv1alpha1.PodBound:
		return true
	case diagnosticsv1alpha1.PodSchedulable:
		return slices.ContainsFunc(a.places(), in.has)
	}
	return false
}

// places are the nodes that pass, the best first.
func (a Answer) places() []string { return placesOf(a.Status.Placement) }

// place is the name of a node that passes, empty where the readers may not see it.
func (a Answer) place(node string) string {
	if slices.Contains(placesOf(a.told().Placement), node) {
		return node
	}
	return ""
}

func placesOf(placement *diagnosticsv1alpha1.Placement) []string {
	if placement == nil {
		return nil
	}
	nodes := []string{placement.Node}
	for _, score := range placement.Scores {
		if score.Node != placement.Node {
			nodes = append(nodes, score.Node)
		}
	}
	return nodes
}

// schedulableAfterPreemption is true when a node of the region passes, or does once the pods that the scheduler names are
// gone. Both were tried.
func (a Answer) schedulableAfterPreemption(in region) bool {
	found := a.preemption()
	return a.schedulable(in) || found != nil && in.has(found.NodeName)
}

// groups are the refusals of one plugin for one reason, in the order of the answer; those with the same text and plugin
// are one.
func (a Answer) groups(in region, keep func(diagnosticsv1alpha1.RefusalGroup) bool) []schedulingv1alpha1.NodeFailedDetail {
	var details []schedulingv1alpha1.NodeFailedDetail
	for i, group := range a.Status.Groups {
		if !keep(group) || len(nodesOf(group, in)) == 0 && len(group.Nodes) > 0 {
			continue
		}
		told := a.told().Groups[i]
		details = merge(details, schedulingv1alpha1.NodeFailedDetail{
			FailedPlugin: group.Plugin, Reason: told.Reason, PreemptMightHelp: group.PreemptionMayHelp, FailedNodes: nodesOf(told, in),
		})
	}
	return details
}

func nodesOf(group diagnosticsv1alpha1.RefusalGroup, in region) []string {
	var nodes []string
	for _, refused := range group.Nodes {
		if in.has(refused.Node) {
			nodes = append(nodes, refused.Node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// merge adds a detail to those of the same plugin and reason.
func merge(details []schedulingv1alpha1.NodeFailedDetail, detail schedulingv1alpha1.NodeFailedDetail) []schedulingv1alpha1.NodeFailedDetail {
	for i := range details {
		if details[i].FailedPlugin == detail.FailedPlugin && details[i].Reason == detail.Reason {
			nodes := append(details[i].FailedNodes, detail.FailedNodes...)
			slices.Sort(nodes)
			details[i].FailedNodes = slices.Compact(nodes)
			details[i].PreemptMightHelp = details[i].PreemptMightHelp || detail.PreemptMightHelp
			return details
		}
	}
	return append(details, detail)
}

// domains of the answer: one, or the values of the topology label in order. Nodes without the label are in no domain.
func (f Findings) domains() []region {
	if f.TopologyKey == "" || !slices.ContainsFunc(f.Answers, func(a Answer) bool { return a.Status.NodesTotal > 0 }) {
		return []region{anywhere}
	}
	byName := map[string]map[string]bool{}
	for node, domain := range f.Domains {
		if byName[domain] == nil {
			byName[domain] = map[string]bool{}
		}
		byName[domain][node] = true
	}
	var regions []region
	for _, name := range slices.SortedFunc(maps.Keys(byName), cmp.Compare[string]) {
		regions = append(regions, region{name: name, nodes: byName[name]})
	}
	if len(regions) == 0 {
		return []region{anywhere}
	}
	return regions
}
