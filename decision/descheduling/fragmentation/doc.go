// Package fragmentation decides which pods leave nodes of which one resource is requested much more than another: what is left of the
// other is of no use there. The imbalance of a node is the standard deviation of the requested shares of its resources. At most one
// pod leaves a node in a pass, the one that lowers the imbalance most; with nodeFit, only if the node that takes it does not become
// more imbalanced by as much, so that pods do not go back and forth.
package fragmentation
