// Package parameter knows the kernel's parameters of the whole machine: where they are in /proc and /sys, and how a value is
// written and read back. They are settings like those of cgroups, of one that has no name.
package parameter
