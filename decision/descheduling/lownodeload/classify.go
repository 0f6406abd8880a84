package lownodeload

// Class of a node by its usage.
type Class string

// The classes.
const (
	// Unknown usage: the node decides nothing.
	Unknown Class = "unknown"
	// Low nodes take pods, of prod only while the prod thresholds let them.
	Low Class = "low"
	// BothLow nodes are low by the usage of the node and of its prod pods.
	BothLow Class = "bothLow"
	// Normal nodes are between the thresholds.
	Normal Class = "normal"
	// High nodes are left by pods.
	High Class = "high"
	// ProdHigh nodes are left by prod pods.
	ProdHigh Class = "prodHigh"
	// ProdLow nodes are normal, and take prod pods.
	ProdLow Class = "prodLow"
)

// classify sets the class of a node. A cordoned node takes no pods.
func (s *nodeState) classify(requests bool) {
	if s.problem != "" {
		s.class = Unknown
		return
	}
	prodHigh := s.pool.prod && s.over(s.prodUsage, &s.prod, false)
	prodLow := s.pool.prod && !s.Spec.Unschedulable && s.under(s.prodUsage, &s.prod, false)
	switch low := !s.Spec.Unschedulable && s.under(s.usage, &s.node, requests); {
	case low && prodHigh, !low && prodHigh && !s.over(s.usage, &s.node, requests):
		s.class = ProdHigh
	case low && prodLow:
		s.class = BothLow
	case low:
		s.class = Low
	case s.over(s.usage, &s.node, requests):
		s.class = High
	case prodLow:
		s.class = ProdLow
	default:
		s.class = Normal
	}
}

// over is true when any resource is above its high threshold. Requests are compared in percent, as LowNodeUtilization does.
func (s *nodeState) over(usage []int64, limits *limits, percent bool) bool {
	for i := range usage {
		if s.exceeds(usage, limits, i, percent) {
			return true
		}
	}
	return false
}

func (s *nodeState) exceeds(usage []int64, limits *limits, i int, percent bool) bool {
	if percent {
		return limits.highPercent[i] != unset && s.percentOf(usage, i) > limits.highPercent[i]
	}
	return s.capacity[i] > 0 && usage[i] > limits.high[i]
}

// under is true when no resource is above its low threshold.
func (s *nodeState) under(usage []int64, limits *limits, percent bool) bool {
	for i := range usage {
		switch {
		case percent && limits.lowPercent[i] != unset && s.percentOf(usage, i) > limits.lowPercent[i]:
			return false
		case !percent && s.capacity[i] > 0 && usage[i] > limits.low[i]:
			return false
		}
	}
	return true
}

// observe counts the classification of a node. The count of an underutilized node restarts; one between the thresholds counts as normal.
func (s *nodeState) observe(in *Input) {
	s.history = in.History.recall(s.Name, s.pool.name, in)
	if s.problem != "" {
		return
	}
	s.history.ObservedAt = timestamp(in.Now)
	switch s.class {
	case Low, BothLow:
		s.history.Node = Detector{}
	default:
		s.history.Node = s.history.Node.Observe(s.class == High, in.Now, &s.pool.condition)
	}
	switch {
	case !s.pool.prod, s.class == ProdLow, s.class == BothLow:
		s.history.Prod = Detector{}
	default:
		s.history.Prod = s.history.Prod.Observe(s.over(s.prodUsage, &s.prod, false), in.Now, &s.pool.condition)
	}
}

// score of a node in the order in which pods leave nodes: the weighted mean of its usage in thousandths.
func (s *nodeState) score(usage []int64) int64 {
	var sum, weights int64
	for i, weight := range s.pool.weights {
		weights += weight
		if capacity := s.capacity[i]; capacity > 0 {
			sum += int64(float64(min(max(usage[i], 0), capacity))/float64(capacity)*1000) * weight
		}
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// rawSum is the score of LowNodeUtilization: milliCPU, bytes and counts added up.
func (s *nodeState) rawSum() int64 {
	var sum int64
	for _, amount := range s.usage {
		sum = add(sum, amount)
	}
	return sum
}
