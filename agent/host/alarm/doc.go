// Package alarm signals at once that services need more CPU than before, so that the agent need not wait for its next reading. It uses
// the kernel's pressure triggers on the services' cgroups, and polls their CPU time ten times a second.
package alarm
