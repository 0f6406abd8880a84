// Package eviction decides which pods leave a node that is short of CPU or memory, in which order, and until how much is
// released. Six features of the node agent share one engine:
//
//	BECPUEvict              best-effort pods get too little CPU: limit / request <= cpuEvictBESatisfactionLowerPercent,
//	                        while they use cpuEvictBEUsageThresholdPercent of the limit; releases request x upper - limit
//	CPUAllocatableEvict     requests of a tier > offer x cpuAllocatableEvictThresholdPercent; releases down to the lower percent
//	CPUEvict                used / capacity >= cpuEvictThresholdPercent; releases capacity x (used % - lower %)
//	BEMemoryEvict           used / capacity >= memoryEvictThresholdPercent, of best-effort pods
//	MemoryAllocatableEvict  as CPUAllocatableEvict, of memory
//	MemoryEvict             as BEMemoryEvict, of every pod that agrees and has at most evictEnabledPriorityThreshold
//
// Percentages of use are whole ones, rounded down. Features on best effort take BE pods only; the others take pods that
// carry the label eviction-enabled and have at most the priority of their threshold. LSE, LSR and SYSTEM pods, critical and
// static ones are taken by none. Nothing is evicted on measurements that are older than two periods, while the last eviction
// takes effect, or beyond the budget of the node.
package eviction
