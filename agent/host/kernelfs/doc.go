// Package kernelfs is an imitation of the kernel's cgroup files in memory, for tests and for machines that lack what is to be
// tested. It refuses what the kernel refuses, with the same errors, shows values as the kernel shows them, and keeps the
// kernel's rules between a cgroup and those around it. The same table of cases runs against it and against the real kernel.
package kernelfs
