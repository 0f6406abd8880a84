// Package podrequest answers how much a pod asks for, by tier: plain cpu and memory, mid, or batch. It is the one place
// where containers, init containers, restartable sidecars, overhead, pod-level resources and resizes in flight are added
// up, so that scheduler, manager, agent and explanations never disagree about a request.
package podrequest
