// Package machine is the machine that the agent runs on, read from /proc, /sys and the cgroups that kubelet makes. Files that
// are read again and again stay open, and are read into the same memory.
package machine
