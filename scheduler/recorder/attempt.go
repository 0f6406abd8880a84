package recorder

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Outcome of an attempt.
type Outcome string

const (
	// Placed means a node was chosen; binding goes on by itself.
	Placed Outcome = "Placed"
	// Unschedulable means that no node was found.
	Unschedulable Outcome = "Unschedulable"
	// Failed means that an error, or a refusal after a node had been chosen, ended the attempt.
	Failed Outcome = "Failed"
)

// Attempt to schedule a pod.
type Attempt struct {
	// Began is when the pod left the queue; Took is how long it was on the scheduling thread.
	Began time.Time
	Took  time.Duration
	// Number counts the attempts of the pod from 1, also those that the recorder has forgotten.
	Number  int32
	Outcome Outcome
	// Node that was chosen.
	Node string
	// Feasible nodes among those evaluated; 0 when it is not known.
	Feasible int32
	// Nominated is the node on which preemption makes room.
	Nominated string
	// Message is the scheduler's own summary of a failure.
	Message string
	// Refusals of nodes, most nodes first.
	Refusals []Refusal
	// Best nodes by score, the chosen one first.
	Best []Score
}

// Refusal is how many nodes one plugin refused with one reason.
type Refusal struct {
	Plugin, Reason string
	Nodes          int32
}

// Score of one node.
type Score struct {
	Node    string
	Total   int64
	Plugins []PluginScore
}

// PluginScore is what one plugin gave a node, weight included.
type PluginScore struct {
	Plugin string
	Score  int64
}

// Subject is the pod that attempts were made for.
type Subject struct {
	UID             types.UID
	Namespace, Name string
	// Workload that controls the pod, as KIND/NAME; empty for none.
	Workload string
}

func subjectOf(pod *corev1.Pod) Subject {
	subject := Subject{UID: pod.UID, Namespace: pod.Namespace, Name: pod.Name}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		subject.Workload = owner.Kind + "/" + owner.Name
	}
	return subject
}
