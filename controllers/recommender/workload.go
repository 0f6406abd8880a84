package recommender

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// forgetAfter is how long a container name is remembered that is not seen any more.
const forgetAfter = 14 * 24 * time.Hour

// workload is what is known about the target of one Recommendation. One goroutine owns it.
type workload struct {
	uid        types.UID
	generation int64
	containers map[string]*recommend.Container
	// advised is the latest recommendation of each container.
	advised map[string]recommend.Recommendation
	// sampled is the time of each pod's latest report.
	sampled map[types.UID]time.Time
	// applied is when pods were resized.
	applied map[types.UID]time.Time
	// held is what is left to autoscalers of what is applied.
	held []recommend.Hold
	// kind of job that the pods ran when there last were some, in their only container; its name is empty where they were no jobs.
	kind         jobinsight.Kind
	jobContainer string
	// dirty says that something was learned since written, the time of the latest write of the status.
	dirty   bool
	written time.Time
}

// newWorkload continues from the checkpoint of a Recommendation, if it has one for its target. The errors name what could not be read
// of it; that is learned again.
func newWorkload(r *analysisv1alpha1.Recommendation) (*workload, []error) {
	w := &workload{
		uid: r.UID, generation: r.Generation, advised: map[string]recommend.Recommendation{}, sampled: map[types.UID]time.Time{},
	}
	if r.Status.UpdateTime != nil {
		w.written = r.Status.UpdateTime.Time
	}
	learned, errs := recommend.ReadCheckpoint(r)
	w.containers, w.applied = learned.Containers, learned.Applied
	return w, errs
}

// usage is one report about a pod.
type usage struct {
	at time.Time
	recommend.Usage
}

// learn adds what pods used to what is known, and counts how often that was more than was recommended.
func (w *workload) learn(pods []*corev1.Pod, reports map[types.NamespacedName]usage, count func(resource string, exceeded bool)) {
	seen := make(map[types.UID]bool, len(pods))
	for _, pod := range pods {
		seen[pod.UID] = true
		report, ok := reports[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}]
		last := w.sampled[pod.UID]
		if !ok || !report.at.After(last) || pod.Status.StartTime != nil && report.at.Before(pod.Status.StartTime.Time) {
			continue
		}
		stands := time.Minute
		if !last.IsZero() {
			stands = report.at.Sub(last)
		}
		w.sampled[pod.UID] = report.at
		for _, share := range recommend.SplitUsage(pod, report.Usage) {
			w.learnUsage(share, report.at, stands, count)
		}
	}
	for uid := range w.sampled {
		if !seen[uid] {
			delete(w.sampled, uid)
		}
	}
}

func (w *workload) learnUsage(share recommend.Share, at time.Time, stands time.Duration, count func(string, bool)) {
	if advised, ok := w.advised[share.Container]; ok {
		count("cpu", share.Usage.Cores*1000 > float64(advised.CPU.Target))
		count("memory", share.Usage.Bytes > float64(advised.Memory.Target))
	}
	if container := w.container(share.Container); container != nil {
		container.AddUsage(at, share.Usage.Cores, share.Usage.Bytes, stands)
		w.dirty = true
	}
}

// container of a name; nil when there are too many.
func (w *workload) container(name string) *recommend.Container {
	if w.containers[name] == nil && len(w.containers) < recommend.MostContainers {
		w.containers[name] = recommend.NewContainer()
	}
	return w.containers[name]
}

// advise derives the recommendations of all known containers, of which a pod has so many.
func (w *workload) advise(options recommend.Options, at time.Time, perPod int) {
	for name, container := range w.containers {
		if !container.Last.IsZero() && at.Sub(container.Last) > forgetAfter {
			delete(w.containers, name)
		}
	}
	learned := recommend.Learned{Containers: w.containers}
	w.advised = learned.Advise(options, perPod, at)
}

// forget drops resizes that are older than any cool-down.
func (w *workload) forget(at time.Time, coolDown time.Duration) {
	for uid, applied := range w.applied {
		if at.Sub(applied) > coolDown {
			delete(w.applied, uid)
		}
	}
}

func secondsOf(at time.Time) *metav1.Time { return &metav1.Time{Time: at.Truncate(time.Second)} }
