// Package network queues what a node sends: a discipline of hierarchical token buckets on a network device, with a class for each
// class of pods, and filters that tell by the address of a pod to which class a packet belongs. It speaks to the kernel by netlink.
package network
