// Package fitmessage reads what kube-scheduler says of a pod that no node takes: "0/30 nodes are available: 1 node(s) were unschedulable, 29
// Insufficient cpu."
package fitmessage
