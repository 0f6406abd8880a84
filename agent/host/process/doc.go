// Package process identifies the processes of a node: which are in a cgroup, whether a process number was reused after a process ended,
// and whether the machine was rebooted, which ends all of them.
package process
