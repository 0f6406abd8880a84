// Package resctrlfs is an imitation of the kernel's resctrl file system in memory, for tests on machines whose processor divides
// nothing. It refuses what the kernel refuses, with the same errors, and shows values as the kernel shows them.
package resctrlfs
