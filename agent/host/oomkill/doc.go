// Package oomkill reports the processes of pods that the kernel killed because memory ran out, within a fraction of a second.
//
// What was killed is read from the kernel's counters, so that nothing is reported twice and nothing is lost while nobody listens. When
// to read them the kernel says: in version 2 by a notification on memory.events of the cgroup of all pods, in version 1 by an event
// on memory.oom_control of each container, for which the directories of pods are watched. Every ten seconds the counters are read
// without that, for what the kernel has no notification of: in version 1 a node that is out of memory as a whole, and a tree that
// is an imitation.
//
// Version 1 counts a kill only in the cgroup that the process is in, and forgets it with that cgroup. What is killed in cgroups that a
// container made for itself, or in one that goes at once, is therefore not reported there.
package oomkill
