// Package resctrl reads and writes the kernel's resctrl file system, which assigns shares of the last-level cache and of the memory
// bandwidth to groups of processes and reports what each group uses of them.
package resctrl
