// Command manager measures koord-manager as a whole process with its default flags, on dedicated control planes: how soon a change of
// the configuration has reached every node, what it costs while nothing changes, what its admission adds to the creation of pods and to
// the change of quotas, and how long koordctl commands over all nodes take. Nodes, their reports and pods are written by the benchmark
// itself; no other controller runs.
package main
