// Package drain says what kubectl drain does with the pods of nodes: which it evicts, which it leaves, which flags it needs, and in which
// rounds PodDisruptionBudgets let the pods go.
package drain
