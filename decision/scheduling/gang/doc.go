// Package gang decides on pods that are scheduled together or not at all: when the members of a gang may be tried, when those
// that found a node may be bound, and what the failure of one means for the others.
//
// A gang comes from a PodGroup, or from annotations of its members. Gangs can be tied to a group, whose gangs start
// together. A Book holds all gangs; it is a state machine without a clock, a lock or a client: what happens is told to it,
// and it answers with what is to be done.
package gang
