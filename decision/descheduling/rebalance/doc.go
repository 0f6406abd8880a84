// Package rebalance decides which pods move to which nodes, so that nodes are not overloaded and the load is spread, by the load that is
// predicted and not by that of the moment.
//
// A potential over all nodes says how well the load is spread:
//
//	Phi = sum over nodes and resources of weight * max(0, load - high)^2
//	    + varianceWeight * sum over nodes and resources of weight * (load - mean)^2
//
// where load is a fraction of what a node can allocate. The second sum is the variance times the number of nodes: so the value of a
// move does not depend on the size of the cluster. A move is accepted only if Phi falls by more than what the move costs and a least
// improvement. As each accepted move lowers Phi, a pass ends, and under a fixed load passes cannot move pods in circles.
//
// Cheaper remedies come before moves: what the agents take from best-effort pods when they hold them back moves no pod, of workloads that are
// scaled down, the pods on overutilized nodes are marked to be removed first, and the CPU limits of jobs are lowered in place, down to what
// they request. Limits of services are left alone: to throttle one would relieve its neighbours at its cost.
package rebalance
