// Package loopguard finds what makes pods go in circles: thresholds of the agent, the descheduler and the scheduler of which one
// undoes what another does, and workloads that return to nodes they have left or move too often.
package loopguard
