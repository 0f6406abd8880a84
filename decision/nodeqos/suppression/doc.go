// Package suppression decides how much CPU best-effort pods may use while services need theirs, and by which CPUs or which
// quota they are held to it.
//
//	budget = capacity x cpuSuppressThresholdPercent
//	       - CPU used by pods above best effort
//	       - CPU used by host applications above best effort
//	       - max(CPU used by the node beyond all pods and host applications, CPU reserved on the node)
//	budget = max(budget, capacity x cpuSuppressMinPercent)
//
// Policy cpuset turns the budget into CPUs, policy cfsQuota into a quota. Both take at once and give back slowly: at most a
// tenth of the node per round, because a service that grows has to be served now and one that shrinks may be back soon.
// What is not known is not given: without a measurement that can be believed the present limits stay.
package suppression
