// Package nodepods reads what plugins decide from: the pods of nodes, and which of them may not be evicted.
package nodepods
