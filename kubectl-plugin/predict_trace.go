package kubectlplugin

import (
	"fmt"
	"time"

	"koordinator.sh/koord/agent/host/trace"
	"koordinator.sh/koord/decision/core/predict"
)

const (
	// serviceHeadroom is a service's limit over its recorded peak, which no recording contains.
	serviceHeadroom = 1.3
	// finestStep is the step by which agents learn; recordings of finer ones are averaged.
	finestStep = time.Minute
)

// nodesOfTrace lays recordings onto nodes, so many on each, services and machines apart from each other. All limits are 1,
// so that every recording counts as much as any other.
func nodesOfTrace(set *trace.Set, podsPerNode int) []predict.Node {
	var nodes []predict.Node
	for _, kind := range []struct {
		series []*trace.Series
		limit  func(*trace.Series) float64
	}{
		{set.Services, func(s *trace.Series) float64 { return serviceHeadroom * s.Peak() }},
		{set.VMs, func(*trace.Series) float64 { return 100 }},
	} {
		for from := 0; from < len(kind.series); from += podsPerNode {
			group := kind.series[from:min(from+podsPerNode, len(kind.series))]
			nodes = append(nodes, nodeOf(fmt.Sprintf("node-%d", len(nodes)+1), group, kind.limit))
		}
	}
	return nodes
}

// nodeOf runs recordings side by side from the start of each, for as long as all of them go on, in steps of the coarsest.
func nodeOf(name string, group []*trace.Series, limit func(*trace.Series) float64) predict.Node {
	step, length := finestStep, time.Duration(1<<63-1)
	for _, series := range group {
		step = max(step, series.Step())
		length = min(length, series.Step()*time.Duration(series.Len()))
	}
	node := predict.Node{Name: name, Resource: predict.CPU, Step: step}
	node.Start, _ = group[0].Start()
	for _, series := range group {
		scale := 0.0
		if limit := limit(series); limit > 0 {
			scale = 1 / limit
		}
		pod := predict.Pod{Name: series.Name, Limit: 1, Usage: averages(series, step, int(length/step))}
		for i := range pod.Usage {
			pod.Usage[i] *= scale
		}
		node.Pods = append(node.Pods, pod)
	}
	return node
}

// averages are the means of a series over n steps. A step between two values gets the one it begins in.
func averages(series *trace.Series, step time.Duration, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		first := int(step * time.Duration(i) / series.Step())
		next := max(int(step*time.Duration(i+1)/series.Step()), first+1)
		for at := first; at < min(next, series.Len()); at++ {
			out[i] += series.Value(at) / float64(min(next, series.Len())-first)
		}
	}
	return out
}
