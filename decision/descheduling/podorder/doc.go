// Package podorder decides in which order pods leave their nodes: the least important first, and among equals the one that relieves
// its node best. The order is Koordinator's: priority class, priority, Kubernetes QoS class, QoS class, pod deletion cost, eviction
// cost, how well the usage covers what has to leave, and the newest first. Where it leaves a tie, as between pods that a Job created in the same
// second, the pod goes first that loses the least of the work of its job.
package podorder
