// Command manager measures koord-manager as a whole process with its default flags, on control planes of its own: how soon a
// change of the configuration has reached every node, what it costs while nothing changes, what its admission adds to the
// creation of pods and to the change of quotas, and how long commands of koordctl take that look at every node. Nodes, their
// reports and pods are written by the benchmark itself; no other controller runs.
package main
