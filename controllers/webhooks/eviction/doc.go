// Package eviction admits the evictions that node agents ask for: an agent evicts only pods of its node, and all agents together no
// more than the cluster's budget. RBAC can express neither, and an Eviction does not name the node of its pod, so that no policy can.
package eviction
