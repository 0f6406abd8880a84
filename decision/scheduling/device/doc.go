// Package device decides which devices of a node - GPUs, RDMA cards and FPGAs, whole or shared - a pod gets. A Node is
// what a Device object offers, a Ledger is what the pods of the node leave of it, and Allocate chooses: by shared-resource
// template, by GPU partition, by topology, jointly with devices of other types, or by score. The same inputs always give
// the same devices, and the trace of a choice lists every device with what it had free and why it was passed over.
package device
