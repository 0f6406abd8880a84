// Package nodetiers decides which pods leave expensive nodes for cheaper ones. Nodes belong to tiers, in the order of evictionOrder;
// pods leave the nodes of a tier for those of the tiers after it, the smallest first. In mode DrainNode, they leave a node only when
// all of those that can leave have a place to go.
package nodetiers
