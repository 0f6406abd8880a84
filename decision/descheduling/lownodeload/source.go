package lownodeload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/descheduling/podorder"
)

// source is a node that pods leave.
type source struct {
	*nodeState
	part       *part
	candidates []candidate
	evicted    uint
}

// candidate is a pod of a source.
type candidate struct {
	pod   *corev1.Pod
	rank  podorder.Rank
	usage []int64
	// prod is true for a prod pod where prod has thresholds.
	prod bool
	// done is true once it left or was refused.
	done bool
}

// candidatesOf lists the pods that may leave a node. Those that may not are recorded.
func candidatesOf(node *nodeState, part *part, in *Input, trace *Trace) []candidate {
	usages := node.podUsages(in.Policy.requests)
	candidates := make([]candidate, 0, len(node.Pods))
	for i, pod := range node.Pods {
		prod := part.pool.prod && extension.PodPriorityClassWithDefault(pod) == extension.PriorityProd
		if part.prod && !prod {
			continue
		}
		reason := in.Protected[pod.UID]
		if reason == "" {
			reason = in.Policy.selection.Refuses(pod)
		}
		if reason == "" && usages[i] == nil {
			reason = "no usage of it is reported"
		}
		if reason != "" {
			trace.skipped(node.Name, pod, reason)
			continue
		}
		rank := podorder.Of(pod)
		rank.Done = jobinsight.ProgressSinceAccepted(pod).Quarter(in.Now)
		candidates = append(candidates, candidate{pod: pod, rank: rank, usage: usages[i], prod: prod})
	}
	if in.Policy.requests {
		slices.SortStableFunc(candidates, func(a, b candidate) int { return byPriority(a.pod, b.pod) })
	}
	return candidates
}

// byPriority is the order of LowNodeUtilization: priority, none first, and then the Kubernetes QoS class.
func byPriority(a, b *corev1.Pod) int {
	priority := func(pod *corev1.Pod) int64 {
		if pod.Spec.Priority == nil {
			return -1 << 40
		}
		return int64(*pod.Spec.Priority)
	}
	qos := func(pod *corev1.Pod) int {
		return slices.Index([]corev1.PodQOSClass{corev1.PodQOSBestEffort, corev1.PodQOSBurstable, corev1.PodQOSGuaranteed}, extension.KubeQOSClass(pod))
	}
	return cmp.Or(cmp.Compare(priority(a), priority(b)), qos(a)-qos(b))
}

// active is what is compared with which thresholds in this part.
func (s *source) active() ([]int64, *limits) {
	if s.part.prod {
		return s.prodUsage, &s.prod
	}
	return s.usage, &s.node
}

// excess is what the node uses above its high thresholds, and whether it does.
func (s *source) excess() (excess []int64, over bool) {
	usage, limits := s.active()
	excess = make([]int64, len(usage))
	for i := range usage {
		if usage[i] > limits.high[i] && (s.capacity[i] > 0 || s.part.pool.requestsCounted()) {
			excess[i], over = add(usage[i], -limits.high[i]), true
		}
	}
	return excess, over
}

// requestsCounted is true for the pool of CompileUtilization, which has no anomaly condition.
func (p *pool) requestsCounted() bool { return p.condition.Timeout == nil }

// exhausted names a resource that the targets have no more of; empty while they have some of all. A resource that none of them has
// keeps only the pods that use it.
func (p *part) exhausted() corev1.ResourceName {
	for i, left := range p.available {
		if left <= 0 && (p.pool.requestsCounted() || p.targets.have(i)) {
			return p.pool.resources[i]
		}
	}
	return ""
}

// pick returns the next pod to leave and its target; nil when no more does, with the reason.
func (s *source) pick(policy *Policy, trace *Trace) (*candidate, *target, string) {
	if policy.perNode > 0 && s.evicted >= policy.perNode {
		return nil, nil, "the maximum number of evictions per node is reached"
	}
	excess, over := s.excess()
	if !over {
		return nil, nil, "the node is not overutilized any more"
	}
	if name := s.part.exhausted(); name != "" {
		return nil, nil, fmt.Sprintf("underutilized nodes have no more %s", name)
	}
	for {
		next := s.first(policy, excess)
		if next == nil {
			return nil, nil, "no more pods can leave the node"
		}
		found, reason := s.admit(next, excess, policy)
		if reason == "" {
			return next, found, ""
		}
		next.done = true
		trace.skipped(s.Name, next.pod, reason)
	}
}

// first is the candidate that leaves first, by how well it covers what the node uses too much now.
func (s *source) first(policy *Policy, excess []int64) *candidate {
	var best *candidate
	for i := range s.candidates {
		next := &s.candidates[i]
		if next.done {
			continue
		}
		if policy.requests {
			return next
		}
		next.rank.Score = podorder.Score(next.usage, excess, s.pool.weights)
		if best == nil || podorder.Compare(&next.rank, &best.rank) < 0 {
			best = next
		}
	}
	return best
}

// admit says where a candidate goes, or why it stays.
func (s *source) admit(next *candidate, excess []int64, policy *Policy) (*target, string) {
	if policy.requests {
		if !s.part.targets.tolerated(next.pod) {
			return nil, "it tolerates the taints of no underutilized node"
		}
		return nil, ""
	}
	relieves := false
	for i, over := range excess {
		relieves = relieves || over > 0 && next.usage[i] > 0
		if next.usage[i] > max(s.part.available[i], 0) {
			return nil, fmt.Sprintf("it uses more %s than underutilized nodes have left", s.pool.resources[i])
		}
	}
	if !relieves {
		return nil, "it uses nothing that the node uses too much of"
	}
	if !policy.nodeFit {
		return nil, ""
	}
	if found := s.part.targets.find(next); found != nil {
		return found, ""
	}
	return nil, "it fits on no underutilized node"
}

// reason of the eviction of a pod, as it is written to events and jobs.
func (s *source) reason() string {
	usage, limits := s.active()
	prefix := "node"
	if s.part.prod {
		prefix = "prod"
	}
	var parts []string
	for i, name := range s.pool.resources {
		if usage[i] > limits.high[i] {
			high := limits.highPercent[i]
			if high == unset {
				high = 100
			}
			parts = append(parts, fmt.Sprintf("%s %s usage(%.2f%%)>threshold(%.2f%%)", prefix, name, s.percentOf(usage, i), high))
		}
	}
	return "node is overutilized, " + strings.Join(parts, ", ")
}

// leave takes the usage of a pod from its node and from what is available.
func (s *source) leave(pod *candidate) {
	pod.done = true
	s.evicted++
	subtractFrom(s.usage, pod.usage)
	if pod.prod {
		subtractFrom(s.prodUsage, pod.usage)
	}
	subtractFrom(s.part.available, pod.usage)
}
