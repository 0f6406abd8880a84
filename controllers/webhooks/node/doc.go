// Package node serves the admission of nodes. Their labels and annotations must be readable and must not contradict each
// other when somebody changes them. And in their statuses allocatable is shown amplified where the node's annotation says
// so; that never refuses anything: whatever goes wrong, the kubelet's status is stored as it came.
package node
