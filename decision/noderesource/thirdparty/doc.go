// Package thirdparty decides how much of a node's batch resources a scheduler outside of Kubernetes, such as YARN's ResourceManager, may
// use, and how much of them Kubernetes must count as taken meanwhile.
//
//	limit    = origin - other schedulers - pods, at least 0, down to what the engine can count
//	free     = origin - other schedulers - pods - allocated
//	capacity = allocated + the engine's share of free, at most limit
//	taken    = max(what the engine may allocate up to, what it has allocated, capacity)
//
// Two schedulers that both see the same free resources would give them away twice. So each part of them belongs to one side at a time, and
// it changes sides in two steps: before the engine's capacity grows, Kubernetes counts the part as taken, and the node has offered
// that much less to pods for a while (Args.Settle), in which a pod that was placed before turns up. Before Kubernetes counts less as
// taken, the engine has confirmed the smaller capacity. What services take back from batch reduces the capacity at once.
package thirdparty
