// Package cfs converts between CPUs and the figures of the kernel's fair scheduler: shares, which weigh siblings against each
// other, and quotas, which bound the time within a period. Every decision that writes one uses these conversions. Figures
// are those of cgroup version 1; code that writes to version 2 translates them.
package cfs
