package eviction

import (
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/waterfall"
)

// BestEffortOf is what best-effort pods and containers request and use of CPU, under a limit in milli-cores.
func BestEffortOf(pods []Pod, limit int64) BestEffortCPU {
	out := BestEffortCPU{Limit: limit}
	for i := range pods {
		pod := &pods[i]
		if pod.QoS != extension.QoSBE || !pod.Active {
			continue
		}
		used := int64(0)
		if pod.Used != nil {
			used = pod.Used.MilliCPU
		}
		out.Request, out.Used = waterfall.Add(out.Request, pod.Requests.Batch.MilliCPU), waterfall.Add(out.Used, used)
		if pod.IsContainer() {
			out.ContainerRequest = waterfall.Add(out.ContainerRequest, pod.Requests.Batch.MilliCPU)
			out.ContainerUsed = waterfall.Add(out.ContainerUsed, used)
		}
	}
	return out
}

// ofPods leaves containers of other schedulers out: what a node offers to pods is without what they have.
func (c BestEffortCPU) ofPods() BestEffortCPU {
	c.Request, c.Used = c.Request-c.ContainerRequest, c.Used-c.ContainerUsed
	c.ContainerRequest, c.ContainerUsed = 0, 0
	return c
}
