// Package nodeload holds what NodeMetrics report of the load of nodes, in an eighth of their memory: the usage of the system and of each
// pod as numbers. A cluster of 5,000 nodes has 150,000 of them.
package nodeload
