// Package coscheduling is the scheduler plugin Coscheduling: the pods of a gang get nodes together or not at all. The decisions
// are those of decision/scheduling/gang; this package feeds them with what happens, and carries them out.
//
// A member that finds a node waits in Permit until its group is complete. Of a Strict gang that cannot be completed, only the
// member that found no node waits for the cluster to change, by the hints of whatever refused it; the others are called when it
// finds one, and nothing waits for the scheduler's periodic retry. The nodes that released members give back look like free room
// to other plugins, so that such a gang is tried again after the scheduler's backoff, with all members that find a node.
package coscheduling
