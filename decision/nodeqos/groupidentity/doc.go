// Package groupidentity decides how pods are ranked against each other on a CPU: cpu.bvt_warp_ns, from -1, which yields to
// everybody, to 2, which everybody yields to. It is a feature of Anolis' kernel. Upstream kernels get the nearest thing they
// have: cpu.idle for what yields, or the least weight, and nothing for the rest.
package groupidentity
