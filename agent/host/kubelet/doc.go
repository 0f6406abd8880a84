// Package kubelet reads from kubelet's own files how it binds pods to CPUs. It writes nothing, and takes files that kubelet is
// just writing, or that are none of its, for what they are worth.
package kubelet
