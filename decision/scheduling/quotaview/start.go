package quotaview

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Jobs says how long pods will run, as far as former runs of their kinds tell.
type Jobs struct {
	Store *jobinsight.Store
	// Now is the time of the forecast, and Confidence that of its intervals.
	Now        time.Time
	Confidence float64
}

// Start is when the quota of a pod without a node has room for it. Nodes are not looked at.
type Start struct {
	// Quota that has no room now, the pod's own or one above it; empty where all have.
	Quota string
	// Message says what it lacks.
	Message string
	// Low, Point and High are how far ahead it has room: nil where that is not known. Low supposes that pods of which nothing is known end at
	// once, the others that they never end.
	Low, Point, High *time.Duration
	// Ends are the jobs of Quota that end before, by Point, the first first.
	Ends []End
	// Before counts the pods of Quota that wait, too, and get room before it.
	Before int
	// Lasting counts pods in the quota that are no jobs, and Unknown jobs of which it is not known how long they take.
	Lasting, Unknown int
	// Omitted counts pods that wait and were not looked at, because there are too many.
	Omitted int
}

// End of a job that holds a part of a quota.
type End struct {
	Namespace, Name string
	// After is how far ahead it is.
	After time.Duration
}

// mostWaiting bounds the waiting pods that are looked at.
const mostWaiting = 200

// StartOf says when the quota of a pod without a node has room for it: nil for a pod that counts against no quota, and where pods,
// nodes or quotas are missing. Jobs give back what they hold when they end; pods that wait get it in the order in which the scheduler
// tries them, and hold it for as long as they run. The Quota of the input is not used.
func StartOf(in Input, pod *corev1.Pod, jobs Jobs) *Start {
	if in.Unseen {
		return nil
	}
	args, forest, belonging := arrange(&in)
	name := forest.QuotaOf(belonging, pod)
	if forest.Tree(name) == nil {
		return nil
	}
	s := starter{in: &in, pod: pod, jobs: jobs, rules: args.Rules(), forest: forest, belonging: belonging, quota: name}
	return s.start()
}

type starter struct {
	in        *Input
	pod       *corev1.Pod
	jobs      Jobs
	rules     quota.Rules
	forest    *quota.Forest
	belonging quota.Belonging
	quota     string
	// running and waiting are the pods of the tree, the latter in the order in which they are tried.
	running, waiting []runner
	omitted          int
	// blocking is the quota that has no room now.
	blocking string
}

// runner is a pod with how long it takes from now, or from when it starts.
type runner struct {
	pod     *corev1.Pod
	quota   string
	holding quota.Holding
	takes   span
}

// span is how long a pod takes. A pod that is no job never ends.
type span struct {
	job, known       bool
	low, point, high time.Duration
}

func (s *starter) start() *Start {
	s.read()
	out := &Start{Omitted: s.omitted}
	tree := s.forest.Tree(s.quota)
	holding := quota.HoldingOf(s.pod)
	var admission quota.Admission
	tree.Admission(s.quota, holding, s.rules, &admission)
	verdict := admission.Verdict()
	if verdict.Passed() {
		out.Low, out.Point, out.High = new(time.Duration), new(time.Duration), new(time.Duration)
		return out
	}
	out.Quota, out.Message = admission.Quotas[verdict.Level], quota.Message(tree.Shortages(&admission, verdict))
	s.blocking = out.Quota
	for i := range s.running {
		each := &s.running[i]
		switch {
		case !s.holds(each):
		case !each.takes.job:
			out.Lasting++
		case !each.takes.known:
			out.Unknown++
		}
	}
	soonest := s.simulate(func(t span) (time.Duration, bool) { return t.low, t.job }, nil)
	likely := s.simulate(func(t span) (time.Duration, bool) { return t.point, t.known }, out)
	latest := s.simulate(func(t span) (time.Duration, bool) { return t.high, t.known }, nil)
	out.order(soonest, likely, latest)
	return out
}

// holds is true for a pod that counts in the quota that has no room.
func (s *starter) holds(each *runner) bool {
	return each.quota == s.blocking || slices.Contains(s.forest.Tree(s.quota).Ancestors(each.quota), s.blocking)
}

// order fills in the interval. That pods take longer may let others start before them, and this one earlier.
func (o *Start) order(soonest, likely, latest *time.Duration) {
	o.Low, o.Point, o.High = soonest, likely, latest
	if likely == nil {
		o.High, o.Ends, o.Before = nil, nil, 0
		return
	}
	if soonest == nil || *likely < *soonest {
		o.Low = likely
	}
	if latest == nil {
		return
	}
	o.Low, o.High = new(min(*o.Low, *latest)), new(max(*likely, *latest))
}

// read finds the pods of the quota's tree.
func (s *starter) read() {
	tree, found := s.forest.Tree(s.quota), false
	for i := range s.in.Pods {
		pod := &s.in.Pods[i]
		if !podrequest.Consumes(pod) {
			continue
		}
		name := s.forest.QuotaOf(s.belonging, pod)
		if s.forest.Tree(name) != tree {
			continue
		}
		each := runner{pod: pod, quota: name, holding: quota.HoldingOf(pod), takes: s.takes(pod)}
		switch own := pod.Namespace == s.pod.Namespace && pod.Name == s.pod.Name; {
		case each.holding.Assigned:
			s.running = append(s.running, each)
		case own || len(pod.Spec.SchedulingGates) == 0 && pod.DeletionTimestamp == nil:
			found = found || own
			s.waiting = append(s.waiting, each)
		}
	}
	if !found { // it does not exist yet
		each := runner{pod: s.pod, quota: s.quota, holding: quota.HoldingOf(s.pod)}
		tree.Hold(s.quota, each.holding)
		s.waiting = append(s.waiting, each)
	}
	slices.SortStableFunc(s.waiting, func(a, b runner) int { return queueOrder(a.pod, b.pod) })
	s.bound()
}

// queueOrder is the order in which the scheduler tries pods. One that does not exist yet comes last.
func queueOrder(a, b *corev1.Pod) int {
	if order := cmp.Compare(priorityOf(b), priorityOf(a)); order != 0 {
		return order
	}
	switch none := a.CreationTimestamp.IsZero(); {
	case none != b.CreationTimestamp.IsZero() && none:
		return 1
	case none != b.CreationTimestamp.IsZero():
		return -1
	}
	return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// bound leaves out pods that wait beyond the first ones, but not the pod itself.
func (s *starter) bound() {
	if len(s.waiting) <= mostWaiting {
		return
	}
	s.omitted = len(s.waiting) - mostWaiting
	for i := mostWaiting; i < len(s.waiting); i++ {
		if s.own(&s.waiting[i]) {
			s.waiting[mostWaiting-1] = s.waiting[i]
		}
	}
	s.waiting = s.waiting[:mostWaiting]
}

func (s *starter) own(each *runner) bool {
	return each.pod.Namespace == s.pod.Namespace && each.pod.Name == s.pod.Name
}

// takes says how long a pod takes.
func (s *starter) takes(pod *corev1.Pod) span {
	forecast, isJob := s.jobs.Store.Forecast(pod, s.jobs.Now, s.jobs.Confidence, nil)
	switch out := (span{job: isJob}); {
	case forecast.Remaining != nil:
		out.known, out.low, out.point, out.high = true, forecast.Remaining.Low, forecast.Remaining.Point, forecast.Remaining.High
		return out
	case isJob && forecast.State == jobinsight.Pending && forecast.Of(jobinsight.Duration) != nil:
		d := forecast.Of(jobinsight.Duration)
		seconds := func(of float64) time.Duration { return time.Duration(of) * time.Second }
		out.known, out.low, out.point, out.high = true, seconds(d.Low), seconds(d.Point), seconds(d.High)
		return out
	default:
		return out
	}
}
