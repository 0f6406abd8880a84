// Package lownodeload decides which pods leave nodes whose usage is above their high thresholds, so that nodes below their low
// thresholds take them.
//
// The usage of a node is what its NodeMetric reports of the system and of the pods that are still there. Nodes are classified pool by
// pool; a node that is overutilized in one pass may be so by chance, and is acted on after several in a row: History holds those counts,
// and is a value that the caller stores. Victims are chosen one by one while their node stays above a threshold and the low nodes have
// room for what leaves. A node whose NodeMetric is missing, expired, from the future or impossible decides nothing.
//
// Decide plans a whole pass and assumes that every eviction succeeds. Begin is the same pass step by step, for a caller whose evictions
// can be refused.
//
// CompileUtilization makes a policy with which the same functions decide as LowNodeUtilization of sigs.k8s.io/descheduler does: on
// requests, with its comparisons and its orders.
package lownodeload
