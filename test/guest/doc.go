// Package guest runs tests on a separate kernel: a virtual machine that emulates its processors, so that it needs no support
// of the machine below, whose only file system is what this package puts into memory. It is how cgroups of version 2 are tested
// on machines that have version 1, without touching theirs.
//
// The kernel is one that a distribution ships, see build/guest.sh. Its first process is program init, which prepares the machine,
// runs test programs one after the other, reports how each ended, and powers the machine off.
package guest
