// Package sandbox is the root of the sandbox: a real Kubernetes control plane on this machine, without containers and
// without root, with simulated nodes, on which the whole system runs. As root on Linux, the machine itself can be a node too.
//
// A supervisor (cmd/koord-sandbox) owns the processes; koordctl asks it over a socket in the sandbox's state
// directory. The packages are cut so that koordctl links none of Kubernetes' server code:
//
//	state         where a sandbox keeps its files, and what it was asked to be
//	control       the protocol between koordctl and the supervisor, and the client side of it
//	pki           certificates and kubeconfigs
//	component     which processes there are, and their arguments
//	launch        starts the supervisor, detached, and stops it
//	process       recognises processes, and ends those that a dead supervisor left
//	controlplane  the Kubernetes programs that are linked into koord-sandbox itself
//	koordlets     the simulated node agents, linked into it as well
//	realnode      makes this machine a node, and removes what is left of it
//	workload      what runs in the pods of a real node
//	supervisor    starts, watches, restarts and stops them
//	cluster       what is written into the cluster once it answers
//	scenario      the nodes and workloads of a scenario
package sandbox
