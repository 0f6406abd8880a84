// Package deviceshare is the scheduler plugin DeviceShare: it places pods that request GPUs, RDMA cards or FPGAs where
// these are left, and chooses the devices. The decision is in decision/scheduling/device.
package deviceshare
