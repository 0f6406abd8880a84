// Package process knows the processes of a node: which are in a cgroup, how one is told from another that gets its number after it
// has ended, and whether the machine was started anew, with which all of them end.
package process
