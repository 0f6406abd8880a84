// Package networktopology decides where in the network the members of a gang go: close together, as their rules ask.
//
// The network is a tree: the cluster, layers such as spines and racks that node labels express, and the nodes. Every node offers
// slots for members. A plan gathers all members in one domain, the deepest one that the rules name and that has room.
package networktopology
