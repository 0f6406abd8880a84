// Package resctrl reads and writes the kernel's resctrl file system, by which groups of processes get shares of the last-level
// cache and of the memory bandwidth, and which tells what each group uses of them.
package resctrl
