// Package nodenumaresource is the scheduler plugin that binds pods to CPUs and aligns their resources on NUMA zones. What it
// decides is in decision/scheduling/numa and decision/core/cpuset; what nodes offer and pods hold, in scheduler/state/topologies.
package nodenumaresource
