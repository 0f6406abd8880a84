// Package sandbox is the root of the sandbox: a real Kubernetes control plane on this machine, without containers and
// without root, with simulated nodes, on which the whole system runs.
//
// A supervisor (cmd/koord-sandbox) owns the processes; koordctl asks it over a socket in the sandbox's state
// directory. The packages are cut so that koordctl links none of Kubernetes' server code:
//
//	state         where a sandbox keeps its files, and what it was asked to be
//	control       the protocol between koordctl and the supervisor, and the client side of it
//	pki           certificates and kubeconfigs
//	component     which processes there are, and their arguments
//	controlplane  the processes that are linked into koord-sandbox itself
//	supervisor    starts, watches, restarts and stops them
//	cluster       what is written into the cluster once it answers
//	scenario      the nodes and workloads of a scenario
package sandbox
