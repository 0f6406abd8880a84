// Package evictability decides whether the descheduler may evict a pod at all, whatever the limits of the moment. The gates are asked
// in a fixed order, and all that refuse are named:
//
//	StaticPod          mirror and static pods come back on the same node
//	Terminating        the pod is being deleted already
//	EvictionCost       its eviction cost is the maximum of 32 bits
//	MigrationLoop      its workload was moved back to a node that it had left, and plugins do not move it on
//	NoEviction         it asks not to be evicted, and the policy makes that binding
//	DaemonSet          a pod of a DaemonSet comes back on the same node
//	BarePods           nothing would create the pod again; failed ones and all may be allowed
//	LocalStorage       emptyDir and hostPath volumes, whose data would be lost
//	SystemCritical     priority >= 2000000000
//	PriorityThreshold  priority >= the threshold
//	PVC                persistent volume claims
//	LabelSelector      labels that the policy does not select
//	Namespaces         namespaces that the policy does not include, or excludes
//	NodeFit            no other node takes the pod
//
// The annotation descheduler.alpha.kubernetes.io/evict on a pod lifts all gates but the first four. Gates that the policy skips are
// not asked; the first six cannot be skipped. As in sigs.k8s.io/descheduler, a policy that evicts system-critical pods has no
// priority threshold either.
package evictability
