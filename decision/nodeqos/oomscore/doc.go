// Package oomscore decides oom_score_adj, by which the kernel chooses whom to kill when memory runs out: the value in a pod's
// annotations, or, once those are gone, the one that the kubelet gives.
package oomscore
