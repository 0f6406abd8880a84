// Package resctrl decides which shares of the last-level cache and of the memory bandwidth classes and single pods get, as the
// schemata of the kernel's resctrl file system.
//
//	cache:     n ways, of which those from ceil(start % x n) up to ceil(end % x n)
//	bandwidth: on Intel and ARM in percent, rounded up to the processor's step, 10 on Intel; on AMD 2048 for all of it, else
//	           160 x percent / 100
package resctrl
