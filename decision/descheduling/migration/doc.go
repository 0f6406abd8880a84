// Package migration decides the next step of a PodMigrationJob.
//
// A job in mode ReservationFirst passes these gates, one after the other:
//
//	Arbitration           the arbitrator lets the job start
//	Pod                   the pod is there, and can be moved
//	ReservationCreated    a Reservation for the pod that will replace it is created
//	ReservationScheduled  the scheduler finds a node for it, which is another one
//	TargetNode            that node takes pods
//	Eviction              the pod is evicted; refusals are retried with a backoff
//	ReservationBound      the pod that replaces it uses the Reservation
//	BoundPodReady         and is ready
//
// With eviction policy Surge, a pod of a Deployment whose maxSurge allows that is replaced before it is evicted: after TargetNode come the
// gates Surge, ReservationBound, BoundPodReady and then Eviction. Gate Surge takes the pod from its ReplicaSet, by its label
// pod-template-hash, and leaves it running; the replicas of the Deployment stay what they are. A job that ends before the eviction gives
// the pod back.
//
// With eviction policy EvictionRequest, gate Eviction creates an EvictionRequest and waits for the responders of the pod. Where none can be
// used, it evicts as with policy Eviction. A job that ends before the eviction withdraws the request.
//
// Mode EvictDirectly has the gates Arbitration, Pod and Eviction; a pod that is not scheduled yet is not evicted, its job ends when the pod
// gets a node.
//
// Decide is a function of the job and of the objects it is about, and keeps nothing in memory: a restart changes nothing. The intent to
// evict is written into the job before the eviction, so that a pod that is gone afterwards is known to be evicted, and one that was gone
// before is not. Each state but the last ones has the deadline of the job, its creation plus its ttl. A job that ends in another way than
// by success deletes the Reservation that it created; the Reservation is owned by the job, so that it is deleted with the job, too.
package migration
