// Command scheduler compares schedulers as whole processes: each schedules the same pods onto the same nodes, through a
// control plane that is started afresh for every run, and the runs of the schedulers take turns. The figure that counts is
// the scheduler's own CPU time per pod: the API server and etcd share the processors, so the pace is partly theirs.
package main
