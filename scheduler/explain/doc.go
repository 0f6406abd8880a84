// Package explain answers why a pod is pending, or why it runs where it runs, by running the scheduler's own plugins.
//
// For each profile there is a second instance of the scheduling framework with its own plugin instances and its own
// snapshot of the scheduler's cache. A pod is held against every node and every filter, without stopping at the first
// refusal. Nothing is written anywhere: Reserve, Permit, Bind and PostFilter are never run. Of preemption, only the dry run
// is, with the plugins' own choice of victims.
//
// "What if" needs no second path. A clusterView is the snapshot with a few edits on top (a pod taken off its node, a node or
// a NodeMetric changed); the same plugins read the edited view, and so every proposed fix is one that was tried.
package explain
