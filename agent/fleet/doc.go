// Package fleet runs the agents of simulated nodes, all in one process. It watches nodes with the simulation label,
// their pods and their NodeMetrics; for each node it keeps a simulated machine, the measurements of it and a
// prediction, and reports them as that node's own agent would. How the machine is built, and which CPUs pods share, it
// keeps up to date in the node's NodeResourceTopology; there is one for a node whose metrics are frozen, too. Nodes without
// the label are left alone.
//
// There is one ticker for all nodes and a pool of workers. Because a simulated machine can be asked for its past, the
// first report of a node has complete windows.
package fleet
