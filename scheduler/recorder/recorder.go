package recorder

import (
	"cmp"
	"container/list"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// Bounds of what is kept. The defaults take about 10 MiB when every slot is full.
type Bounds struct {
	// Pods with attempts, 2,000 by default; the pod attempted longest ago is forgotten first.
	Pods int
	// Attempts of one pod, 4 by default: the first and the latest ones.
	Attempts int
	// Nodes whose scores are kept in an attempt, 3 by default.
	Nodes int
	// Refusals kept in an attempt, 8 by default.
	Refusals int
	// Message bytes kept of a failure, 512 by default.
	Message int
}

// DefaultBounds are the bounds of a scheduler.
func DefaultBounds() Bounds {
	return Bounds{Pods: 2000, Attempts: 4, Nodes: 3, Refusals: 8, Message: 512}
}

// Recorder keeps the last attempts of pods. It is safe for concurrent use.
type Recorder struct {
	bounds Bounds
	now    func() time.Time

	mutex sync.Mutex
	pods  map[types.UID]*list.Element
	// recent orders the pods' records, the latest first.
	recent *list.List
	// open is the attempt on the scheduling thread; there is one at a time.
	open   Attempt
	openOf types.UID
}

// record of one pod.
type record struct {
	subject  Subject
	made     int32
	attempts []Attempt
}

// New returns an empty Recorder.
func New(bounds Bounds, now func() time.Time) *Recorder {
	return &Recorder{bounds: bounds, now: now, pods: map[types.UID]*list.Element{}, recent: list.New()}
}

// Begin opens an attempt for a pod. An attempt that is still open is dropped.
func (r *Recorder) Begin(pod *corev1.Pod) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.open, r.openOf = Attempt{Began: r.now()}, pod.UID
}

// Scored notes the best of the feasible nodes. scores is not kept.
func (r *Recorder) Scored(pod *corev1.Pod, scores []fwk.NodePluginScores) {
	best := r.best(scores)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.openOf == pod.UID {
		r.open.Feasible, r.open.Best = int32(len(scores)), best
	}
}

// best picks the nodes with the highest totals in one pass.
func (r *Recorder) best(scores []fwk.NodePluginScores) []Score {
	picked := make([]*fwk.NodePluginScores, 0, r.bounds.Nodes+1)
	for i := range scores {
		if len(picked) == r.bounds.Nodes && scores[i].TotalScore <= picked[len(picked)-1].TotalScore {
			continue
		}
		at, _ := slices.BinarySearchFunc(picked, scores[i].TotalScore, func(p *fwk.NodePluginScores, total int64) int {
			if p.TotalScore >= total {
				return -1
			}
			return 1
		})
		picked = slices.Insert(picked, at, &scores[i])
		picked = picked[:min(len(picked), r.bounds.Nodes)]
	}
	best := make([]Score, len(picked))
	for i, p := range picked {
		best[i] = Score{Node: p.Name, Total: p.TotalScore, Plugins: make([]PluginScore, len(p.Scores))}
		for j, score := range p.Scores {
			best[i].Plugins[j] = PluginScore{Plugin: score.Name, Score: score.Score}
		}
	}
	return best
}

// Placed closes the open attempt with the node that was chosen.
func (r *Recorder) Placed(pod *corev1.Pod, node string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.openOf != pod.UID {
		return
	}
	r.open.Outcome, r.open.Node = Placed, node
	if i := slices.IndexFunc(r.open.Best, func(s Score) bool { return s.Node == node }); i > 0 { // equal scores are drawn by lot
		chosen := r.open.Best[i]
		r.open.Best = slices.Insert(slices.Delete(r.open.Best, i, i+1), 0, chosen)
	}
	if r.open.Feasible == 0 {
		r.open.Feasible = 1 // a single feasible node is not scored
	}
	r.close(pod)
}

// Failure is what a failed attempt leaves.
type Failure struct {
	Outcome   Outcome
	Message   string
	Nominated string
	Refusals  []Refusal
}

// Fail closes the attempt of a pod. After Placed it records a separate attempt: the pod lost its node again.
func (r *Recorder) Fail(pod *corev1.Pod, failure Failure) {
	slices.SortFunc(failure.Refusals, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Reason, b.Reason))
	})
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.openOf != pod.UID {
		r.open, r.openOf = Attempt{Began: r.now()}, pod.UID
	}
	r.open.Outcome, r.open.Nominated = failure.Outcome, failure.Nominated
	r.open.Message = strings.Clone(failure.Message[:min(len(failure.Message), r.bounds.Message)])
	r.open.Refusals = slices.Clone(failure.Refusals[:min(len(failure.Refusals), r.bounds.Refusals)])
	r.close(pod)
}

// close expects the lock to be held. It files the open attempt.
func (r *Recorder) close(pod *corev1.Pod) {
	r.open.Took = r.now().Sub(r.open.Began)
	element := r.pods[pod.UID]
	if element == nil {
		element = r.recent.PushFront(&record{subject: subjectOf(pod)})
		r.pods[pod.UID] = element
		r.forgetOldest()
	} else {
		r.recent.MoveToFront(element)
	}
	of := element.Value.(*record)
	of.made++
	r.open.Number = of.made
	if len(of.attempts) >= r.bounds.Attempts { // the first attempt stays, to compare with
		of.attempts = slices.Delete(of.attempts, min(1, len(of.attempts)-1), min(1, len(of.attempts)-1)+1)
	}
	of.attempts = append(of.attempts, r.open)
	r.open, r.openOf = Attempt{}, ""
}

// forgetOldest expects the lock to be held.
func (r *Recorder) forgetOldest() {
	if r.recent.Len() <= r.bounds.Pods {
		return
	}
	oldest := r.recent.Back()
	delete(r.pods, r.recent.Remove(oldest).(*record).subject.UID)
}

// History of a pod, oldest attempt first; none when nothing is kept. The attempts must not be changed.
func (r *Recorder) History(pod types.UID) []Attempt {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	element := r.pods[pod]
	if element == nil {
		return nil
	}
	return slices.Clone(element.Value.(*record).attempts)
}

// Siblings are the last attempts of the other pods of a pod's workload, the latest first, limit of them at most.
func (r *Recorder) Siblings(pod *corev1.Pod, limit int) []Sibling {
	of := subjectOf(pod)
	if of.Workload == "" {
		return nil
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var found []Sibling
	for element := r.recent.Front(); element != nil && len(found) < limit; element = element.Next() {
		other := element.Value.(*record)
		if other.subject.UID != of.UID && other.subject.Namespace == of.Namespace && other.subject.Workload == of.Workload {
			found = append(found, Sibling{Subject: other.subject, Attempt: other.attempts[len(other.attempts)-1]})
		}
	}
	return found
}

// Sibling is a pod of the same workload with its last attempt.
type Sibling struct {
	Subject
	Attempt
}
