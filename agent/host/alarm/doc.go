// Package alarm tells at once that services need more CPU than before, so that the agent need not wait for its next reading. It
// hears it from the kernel, by triggers on the pressure of the services' cgroups, and from looking at their CPU time ten times
// a second.
package alarm
