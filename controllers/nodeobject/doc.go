// Package nodeobject keeps one object of a kind for every Node: its counterpart, which has the node's name and whose
// spec is derived from the configuration. What differs between kinds is a Kind; nodemetric and nodeslo are the kinds
// there are.
package nodeobject
