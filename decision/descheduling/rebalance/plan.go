package rebalance

import "koordinator.sh/koord/decision/descheduling/loopguard"

// Plan is what one pass does.
type Plan struct {
	// Steps in the order in which they are applied.
	Steps []Step
	// Before and After are the potential at the begin of the pass and after all steps.
	Before, After float64
	// Loops are the workloads that are stopped, because they went in circles.
	Loops []loopguard.Loop
}

// Remedy is what a step does, from the cheapest to the costliest.
type Remedy string

// The remedies.
const (
	// HoldBack leaves it to the agent of the node to hold best-effort pods back, which it does by itself: what it takes from them moves no pod.
	HoldBack Remedy = "HoldBack"
	// LowerCPULimit lowers the CPU limit of a job in place, to no less than it requests.
	LowerCPULimit Remedy = "LowerCPULimit"
	// RestoreCPULimit gives a job the CPU limit back that it had, when its node has room for what it used.
	RestoreCPULimit Remedy = "RestoreCPULimit"
	// DeletionCost marks a pod so that the scale-down which is under way removes it.
	DeletionCost Remedy = "DeletionCost"
	// Migrate moves a pod to another node.
	Migrate Remedy = "Migrate"
)

// Step is one remedy for one node.
type Step struct {
	Remedy Remedy
	// Node is the one that is relieved.
	Node int
	// Pod is -1 for HoldBack.
	Pod int
	// Target is -1 but for Migrate, and Others are targets of a Migrate that are worth the move as well, the best first.
	Target int
	Others []int
	// Amount of each resource that HoldBack takes away; nil for others.
	Amount []float64
	// DeletionCost to write, for DeletionCost.
	DeletionCost int32
	// Limit in cores that the pod gets, the sum over its containers, for LowerCPULimit and RestoreCPULimit.
	Limit float64
}

// Move is a pod that was given another node in this pass.
type Move struct{ Pod, From, To int }

// Moves are the migrations of the plan in their order.
func (p Plan) Moves() []Move {
	var moves []Move
	for _, step := range p.Steps {
		if step.Remedy == Migrate {
			moves = append(moves, Move{Pod: step.Pod, From: step.Node, To: step.Target})
		}
	}
	return moves
}
