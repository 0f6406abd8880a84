// Package nodeslo keeps one NodeSLO for every Node: the configuration of the node's agent, rendered for that node. What
// others put into the extensions, and fields this version does not know, are left as they are.
package nodeslo
