// Package deviceresource decides which resources and labels a node gets from its Device: the amounts of its healthy devices,
// and the vendor, model and driver of its GPUs.
package deviceresource
