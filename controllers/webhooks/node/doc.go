// Package node serves the admission of node statuses: allocatable is shown amplified where the node's annotation says so. It
// never refuses anything; whatever goes wrong, the kubelet's status is stored as it came.
package node
