// Package sysctl decides kernel settings of a whole node: how much memory is kept free, when reclaim begins, and which features
// of Anolis' scheduler and memory management are on. What the strategy does not set is not written.
//
//	vm.min_free_kbytes = total memory in KiB x minFreeKbytesFactor / 10000, 10240 to 10485760
package sysctl
