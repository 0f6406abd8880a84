package recovery

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// Point is an extension point, as it is named in the metric, the log and the refusal.
type Point string

// The extension points of the plugins.
const (
	PreEnqueue   Point = "PreEnqueue"
	QueueSort    Point = "QueueSort"
	QueueingHint Point = "QueueingHint"
	Sign         Point = "Sign"
	Propose      Point = "Propose"
	PreFilter    Point = "PreFilter"
	AddPod       Point = "AddPod"
	RemovePod    Point = "RemovePod"
	Filter       Point = "Filter"
	PostFilter   Point = "PostFilter"
	PreScore     Point = "PreScore"
	Score        Point = "Score"
	Normalize    Point = "NormalizeScore"
	Reserve      Point = "Reserve"
	Unreserve    Point = "Unreserve"
	Permit       Point = "Permit"
	PreBind      Point = "PreBind"
	Bind         Point = "Bind"
	PostBind     Point = "PostBind"
)

// refusing are the extension points that may refuse a node or a pod. At the others the scheduler expects an error, which it
// handles by trying the pod again with back-off.
var refusing = map[Point]bool{PreEnqueue: true, PreFilter: true, Filter: true, Reserve: true, Permit: true}

// Status recovers from a panic of a plugin, and makes the status say so: Filter refuses the node alone, any other extension point
// refuses the pod. It must be deferred itself, not called by a deferred function.
func Status(plugin string, point Point, pod *corev1.Pod, status **fwk.Status) {
	if cause := recover(); cause != nil {
		*status = refusal(plugin, point, pod, cause)
	}
}

// Ignore recovers from a panic at an extension point that cannot refuse. It must be deferred itself.
func Ignore(plugin string, point Point, pod *corev1.Pod) {
	if cause := recover(); cause != nil {
		report(plugin, point, pod, cause)
	}
}

// Hints makes the queueing hints of a plugin recover from panics, which would come with the lock of the scheduling queue held. A
// hint that panics wakes the pod.
func Hints(plugin string, events []fwk.ClusterEventWithHint) []fwk.ClusterEventWithHint {
	for i := range events {
		hint := events[i].QueueingHintFn
		if hint == nil {
			continue
		}
		events[i].QueueingHintFn = func(logger klog.Logger, pod *corev1.Pod, oldObject, newObject any) (answer fwk.QueueingHint, err error) {
			defer func() {
				if cause := recover(); cause != nil {
					report(plugin, QueueingHint, pod, cause)
					answer, err = fwk.Queue, nil
				}
			}()
			return hint(logger, pod, oldObject, newObject)
		}
	}
	return events
}

func refusal(plugin string, point Point, pod *corev1.Pod, cause any) *fwk.Status {
	report(plugin, point, pod, cause)
	text := fmt.Sprintf("plugin %s panicked in %s: %v", plugin, point, cause)
	if refusing[point] {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, text).WithPlugin(plugin)
	}
	return fwk.AsStatus(fmt.Errorf("%s", text)).WithPlugin(plugin)
}

// reasons are the texts that refusal makes.
var reasons = regexp.MustCompile(`plugin \S+ panicked in [A-Za-z]+: `)

// Is is true for the reason of a status that a panic led to, also where the scheduler put words before it.
func Is(reason string) bool { return reasons.MatchString(reason) }

// logged has the plugins and extension points whose stack was logged.
var logged sync.Map

func report(plugin string, point Point, pod *corev1.Pod, cause any) {
	Panics(plugin, point).Inc()
	if _, known := logged.LoadOrStore(plugin+"/"+string(point), true); known {
		klog.V(2).InfoS("Plugin panicked again", "plugin", plugin, "extensionPoint", point, "pod", klog.KObj(pod), "panic", cause)
		return
	}
	klog.ErrorS(nil, "Plugin panicked; the pod is rejected and scheduling continues", "plugin", plugin, "extensionPoint", point,
		"pod", klog.KObj(pod), "panic", cause, "stack", string(debug.Stack()))
}
