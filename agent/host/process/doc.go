// Package process knows the processes of a node: which are in a cgroup, and how one is told from another that gets its number
// after it has ended.
package process
