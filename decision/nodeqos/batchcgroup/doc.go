// Package batchcgroup decides the CPU and memory bounds of batch and mid pods. The kubelet does not know their resources: it
// runs them as best effort, without a bound.
//
//	cpu.shares            = request in milli-cores x 1024 / 1000, at least 2
//	cpu.cfs_quota_us      = limit in milli-cores x 100, at least 1000, divided by the node's normalization ratio, rounded up
//	memory.limit_in_bytes = limit
//
// What has no limit is not bounded: -1. A pod is bounded when all of its containers are. While suppression bounds all
// best-effort pods by one quota, no pod has a separate quota.
package batchcgroup
