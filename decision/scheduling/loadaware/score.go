package loadaware

// MaxScore of a node that would stay idle.
const MaxScore = 100

// Score says how idle a node would be with the pod, 0 to MaxScore: the weighted mean, over the weighted resources, of
// the free share of raw allocatable, and dominantResourceWeight times that of the scarcest resource, weighted or not,
// among those that the node has. A node whose load is unknown scores 0. It does not allocate.
func Score(in Input) int64 {
	if in.Node.metric.stateAt(in.Now, in.Policy.expiration) != usable {
		return 0
	}
	base, pending := in.Node.metric.score, in.Node.everyone
	if in.Pod.Prod && in.Policy.args.ScoreAccordingProdUsage {
		base, pending = in.Node.metric.prod, in.Node.prod
	}
	dominantWeight := in.Policy.args.DominantResourceWeight
	var sum, weights, dominant int64
	compared := false
	for i, weight := range in.Policy.weights {
		if weight == 0 && (dominantWeight == 0 || in.Node.capacity[i] <= 0) {
			continue
		}
		free := freeShare(base[i]+pending[i]+in.Pod.Usage[i], in.Node.capacity[i])
		if !compared || free < dominant {
			dominant, compared = free, true
		}
		sum += weight * free
		weights += weight
	}
	if weights += dominantWeight; weights == 0 {
		return 0
	}
	return (sum + dominantWeight*dominant) / weights
}

func freeShare(used, capacity int64) int64 {
	if capacity <= 0 || used > capacity {
		return 0
	}
	return (capacity - used) * MaxScore / capacity
}
