package loadaware

// MaxScore of a node that would stay idle.
const MaxScore = 100

// Score says how idle a node would be with the pod, 0 to MaxScore: the weighted mean, over the weighted resources, of
// the free share of raw allocatable, with the scarcest resource weighing dominantResourceWeight more. A node whose load
// is unknown scores 0. It does not allocate.
func Score(in Input) int64 {
	if in.Node.metric.stateAt(in.Now, in.Policy.expiration) != usable {
		return 0
	}
	base, pending := in.Node.metric.score, in.Node.everyone
	if in.Pod.Prod && in.Policy.args.ScoreAccordingProdUsage {
		base, pending = in.Node.metric.prod, in.Node.prod
	}
	var sum, weights int64
	dominant := int64(MaxScore)
	for i, weight := range in.Policy.weights {
		if weight == 0 {
			continue
		}
		free := freeShare(base[i]+pending[i]+in.Pod.Usage[i], in.Node.capacity[i])
		dominant = min(dominant, free)
		sum += weight * free
		weights += weight
	}
	if weight := in.Policy.args.DominantResourceWeight; weight > 0 {
		if weights == 0 {
			dominant = dominantShare(in, base, pending)
		}
		sum += weight * dominant
		weights += weight
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// dominantShare is the smallest free share over all resources the node has, for policies that weigh nothing else.
func dominantShare(in Input, base, pending []int64) int64 {
	dominant := int64(MaxScore)
	for i, capacity := range in.Node.capacity {
		if capacity > 0 {
			dominant = min(dominant, freeShare(base[i]+pending[i]+in.Pod.Usage[i], capacity))
		}
	}
	return dominant
}

func freeShare(used, capacity int64) int64 {
	if capacity <= 0 || used > capacity {
		return 0
	}
	return (capacity - used) * MaxScore / capacity
}
