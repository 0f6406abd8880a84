// Package arbitration decides which PodMigrationJobs may start now, and in which order. A job starts when every limit leaves room for
// it; each that starts counts against those after it.
//
//	globally, per node, per namespace    running jobs < the limit
//	per workload                         running jobs of the workload < max(replicas)
//	unavailable per workload             unavailable or migrating pods, the job's own included, <= max(replicas)
//	expected replicas                    never where replicas = 1, = max migrating or = max unavailable: nothing would be left running
//	replaced first                       a pod that is replaced before it is evicted is never missed: its workload may be of any size, and
//	                                     the pod itself does not count as unavailable, neither for its job nor for others
//	replacements                         one Reservation of a workload at a time waits for the pod that is to use it
//	object limiters                      evictions of the last `duration`, and those that running jobs will make, < max(replicas)
//
//	max(replicas) = floor(10 %) above 10 replicas, 2 from 4 to 10, 1 below; a given percentage is rounded down; at least 1, at most replicas
//
// All is counted from objects: jobs with their annotations and conditions, pods, replicas of workloads. Nothing depends on what a
// process remembers, so restarts change nothing, and all profiles share the limits. Only running jobs hold slots: those that passed
// the arbitration and have not finished. Pending jobs hold none, else they could wait for each other. A workload is what a user
// scales, such as the Deployment and not its ReplicaSets.
//
// A running job whose node and workload are not recorded counts against every node, and every workload of its namespace. A pod with the
// annotation descheduler.alpha.kubernetes.io/evict may exceed limits; its job counts like any other.
package arbitration
