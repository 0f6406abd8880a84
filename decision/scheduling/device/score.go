package device

// MaxScore is the best score of a node or device.
const MaxScore int64 = 100

// Score says how well a node suits a request, 0 to MaxScore: for each type the mean, by the weights of the policy, of what
// of its devices would be free (LeastAllocated) or taken (MostAllocated) with the request on it, and of how whole it leaves
// GPUs; then the mean over the types. A node that does not fit scores 0.
func Score(in Input) int64 {
	s := begin(&in, true, nil)
	defer s.end()
	if s.run() != nil {
		return 0
	}
	var sum int64
	for i := range in.Request.Demands {
		sum += s.scoreType(&in.Request.Demands[i])
	}
	return sum / int64(len(in.Request.Demands))
}

func (s *search) scoreType(d *Demand) int64 {
	var total, taken Amount
	var wholeness, count int64
	for i := range s.node.devices[d.kind] {
		device := &s.node.devices[d.kind][i]
		if !device.healthy {
			continue
		}
		used := device.total.less(&s.ledger.free[d.kind][i])
		total.add(&device.total)
		taken.add(&used)
		if s.chosen[d.kind].has(i) {
			each := d.Each.completed(&device.total)
			taken.add(&each)
			if d.kind == gpu {
				wholeness += s.wholeness(&each, device, i)
				count++
			}
		}
	}
	mean := weightedMean{}
	s.weigh(&mean, d.kind, &taken, &total)
	if count > 0 {
		mean.add(wholeness/count, s.in.Policy.fragmentation)
	}
	return mean.value()
}

// scoreDevice compares devices of one node for a demand.
func (s *search) scoreDevice(d *Demand, position int) int64 {
	device := &s.node.devices[d.kind][position]
	each := d.Each.completed(&device.total)
	taken := device.total.less(&s.ledger.free[d.kind][position])
	taken.add(&each)
	mean := weightedMean{}
	s.weigh(&mean, d.kind, &taken, &device.total)
	if d.kind == gpu {
		mean.add(s.wholeness(&each, device, position), s.in.Policy.fragmentation)
	}
	return mean.value()
}

// bestScore of the eligible devices of a scope.
func (s *search) bestScore(d *Demand, members set) int64 {
	best := int64(0)
	for i := s.eligible[d.kind].next(0); i >= 0; i = s.eligible[d.kind].next(i + 1) {
		if members.has(i) {
			best = max(best, s.scoreDevice(d, i))
		}
	}
	return best
}

func (s *search) weigh(mean *weightedMean, k kind, taken, total *Amount) {
	policy := s.in.Policy
	for d := k.first(); d <= k.last(); d++ {
		if policy.weights[d] == 0 || total[d] == 0 {
			continue
		}
		score := percentOf(min(taken[d], total[d]), total[d])
		if !policy.most {
			score = percentOf(max(0, total[d]-taken[d]), total[d])
		}
		mean.add(score, policy.weights[d])
	}
}

// wholeness says what allocating a share of a GPU does to whole GPUs: 50 when it changes nothing, down to 0 when it breaks a whole
// one and leaves most of it, up to 100 when it uses up what others left.
func (s *search) wholeness(each *Amount, device *physical, position int) int64 {
	free := s.ledger.free[gpu][position]
	before := int64(0)
	if s.ledger.busy[gpu].has(position) {
		before = usable(&free, &device.total)
	}
	rest := free.less(each)
	return 50 - (usable(&rest, &device.total)-before)/2
}

// usable is the part of a GPU that can still be given away, in percent: what is left of compute or of memory, whichever is
// less.
func usable(free, total *Amount) int64 {
	part := MaxScore
	for _, d := range []dimension{core, ratio} {
		if total[d] > 0 {
			part = min(part, percentOf(free[d], total[d]))
		}
	}
	return part
}

func percentOf(part, whole int64) int64 { return part * MaxScore / whole }

// weightedMean of scores.
type weightedMean struct{ sum, weights int64 }

func (m *weightedMean) add(score, weight int64) {
	m.sum += score * weight
	m.weights += weight
}

func (m *weightedMean) value() int64 {
	if m.weights == 0 {
		return 0
	}
	return m.sum / m.weights
}
