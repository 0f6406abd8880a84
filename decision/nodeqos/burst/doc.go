// Package burst decides by how much containers of services may exceed their CPU limit for a while, in two ways:
//
//   - saved time: cpu.cfs_burst_us = limit x cpuBurstPercent, which the kernel fills from quota that was not used;
//   - larger quota: a container that was throttled gets 1.2 times its quota, up to limit x cfsQuotaBurstPercent, while the CPUs
//     that services share have room; once they are overloaded, or its own tokens are used up, 0.8 times, down to its limit.
//
// The shared CPUs are those of the node less what LSE and LSR pods requested; their use is that of the node less what LSE, LSR
// and BE pods use, the system's included. From sharePoolThresholdPercent on they are overloaded, from nine tenths of it they
// cool down, and below they are idle.
package burst
