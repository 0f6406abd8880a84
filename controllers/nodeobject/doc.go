// Package nodeobject manages one object of a kind for every Node, which has the name of the node and whose
// spec is derived from the configuration. What differs between kinds is a Kind; nodemetric and nodeslo are the kinds
// there are.
package nodeobject
