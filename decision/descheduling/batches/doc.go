// Package batches decides in which order the moves of one pass are made, and when the pass stops. The moves are the edges of a graph over
// nodes. A move to a node waits for the moves away from it, which make room there:
//
//	batch(u -> v) = the first batch after all moves that leave v
//
// Moves in a cycle cannot wait for each other: the nodes of a cycle, a strongly connected component, count as one. The moves inside of it
// come together, after the moves that leave it and before those that enter it.
//
// A batch starts when the one before it has ended. A move whose room did not come free, because a move that it waits for failed, is
// dropped. When more than the failure ratio of the moves that were started failed, the pass stops: what has not started is dropped.
package batches
