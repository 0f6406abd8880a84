// Package oomkill reports the processes of pods that the kernel killed because memory ran out, within a fraction of a second.
//
// Kills are read from the kernel's counters, so that none is reported twice and none is lost while the agent does not listen. The
// kernel signals when to read them: in version 2 by a notification on memory.events of the cgroup of all pods, in version 1 by an event
// on memory.oom_control of each container, for which the directories of pods are watched. The counters are also read every ten seconds,
// for what the kernel sends no notification of: in version 1 a node that is out of memory as a whole, and a simulated tree.
//
// Version 1 counts a kill only in the cgroup that the process is in, and forgets it with that cgroup. Kills in cgroups that a container
// made for itself, or in one that is removed at once, are therefore not reported there.
package oomkill
