package podorder

import (
	"fmt"
	"math"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// Rank is where a pod is in the order: the operands of every comparison.
type Rank struct {
	Namespace     string                  `json:"namespace"`
	Name          string                  `json:"name"`
	PriorityClass extension.PriorityClass `json:"priorityClass,omitempty"`
	Priority      int32                   `json:"priority"`
	KubeQOS       corev1.PodQOSClass      `json:"kubeQOS"`
	QoS           extension.QoSClass      `json:"qos,omitempty"`
	// DeletionCost and EvictionCost are those of the annotations, 0 without one that can be read.
	DeletionCost int32 `json:"deletionCost,omitempty"`
	EvictionCost int32 `json:"evictionCost,omitempty"`
	// Score is how well the usage of the pod covers what has to leave its node: Score, or Unmeasured.
	Score   float64   `json:"score"`
	Created time.Time `json:"created,omitzero"`
	// Done is how many quarters of its job's work are done by what was predicted of it, from 0 to 3; 0 for a pod of which nothing was.
	Done int `json:"done,omitempty"`
	// Problems name the annotations that could not be read.
	Problems []string `json:"problems,omitempty"`
}

// Unmeasured is the score of a pod of which no usage is known: after all others.
const Unmeasured = -1

// Of reads the rank of a pod, without a usage score and without what is done of its job.
func Of(pod *corev1.Pod) Rank {
	rank := Rank{
		Namespace: pod.Namespace, Name: pod.Name, Score: Unmeasured, Created: pod.CreationTimestamp.Time,
		PriorityClass: extension.PodPriorityClassWithDefault(pod), KubeQOS: extension.KubeQOSClass(pod), QoS: extension.PodQoSClassWithDefault(pod),
	}
	if pod.Spec.Priority != nil {
		rank.Priority = *pod.Spec.Priority
	}
	var err error
	if rank.DeletionCost, err = DeletionCost(pod.Annotations); err != nil {
		rank.Problems = append(rank.Problems, err.Error())
	}
	if rank.EvictionCost, err = extension.EvictionCost(pod.Annotations); err != nil {
		rank.Problems = append(rank.Problems, err.Error())
	}
	return rank
}

// DeletionCost reads controller.kubernetes.io/pod-deletion-cost as Kubernetes does: 0 when it is absent, and 0 with an error when it is
// no 32-bit integer in canonical form.
func DeletionCost(annotations map[string]string) (int32, error) {
	value, set := annotations[corev1.PodDeletionCost]
	if !set {
		return 0, nil
	}
	cost, err := strconv.ParseInt(value, 10, 32)
	if err != nil || strconv.FormatInt(cost, 10) != value {
		return 0, fmt.Errorf("parse annotation %q: %.40q is not a 32-bit integer in canonical form", corev1.PodDeletionCost, value)
	}
	return int32(cost), nil
}

// Score says how well the usage of a pod covers what its node uses too much, 0 to 2. For each resource in excess, usage that does
// not cover it scores the share that it covers, and usage that does scores 1 + excess/usage: the pod that just covers the excess
// comes first, then larger ones, then smaller ones. The score is the weighted mean over the resources in excess.
func Score(usage, excess, weights []int64) float64 {
	sum, total := 0.0, 0.0
	for i, over := range excess {
		if over <= 0 || weights[i] <= 0 {
			continue
		}
		share := float64(max(usage[i], 0)) / float64(over)
		if share >= 1 {
			share = 1 + 1/share
		}
		sum += share * float64(weights[i])
		total += float64(weights[i])
	}
	if total == 0 || math.IsNaN(sum) {
		return 0
	}
	return sum / total
}
