// Package placement says whether a node takes a pod that leaves another node, counting the pods that are already on their way there:
// cordons, taints, node affinity, requests, the number of pods and host ports. The scheduler decides in the end; a pod that fits
// nowhere by these is not evicted.
package placement
