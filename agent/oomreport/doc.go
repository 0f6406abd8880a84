// Package oomreport reports the processes of pods that the kernel killed because memory ran out: a count for each container, and events
// on the pods. Package oomkill finds them.
package oomreport
