package objects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/fitmessage"
)

// TimelineSnapshot is what the timeline of a pod is made from.
type TimelineSnapshot struct {
	Pod *corev1.Pod
	// Gone is true for a pod that does not exist anymore, and of which only the name, and as far as something tells them its UID and node,
	// are known.
	Gone bool
	// Events about the pod, in any order, and EventsSeen that they could be read.
	Events     []corev1.Event
	EventsSeen bool
	// Preemptions are events about pods that were preempted, by whichever pod.
	Preemptions []corev1.Event
	// Jobs are all PodMigrationJobs.
	Jobs []schedulingv1alpha1.PodMigrationJob
	// Audit is the log of the agent of its node, the oldest entry first.
	Audit []diagnosticsv1alpha1.AuditEntry
	// Notes say what of this does not exist, and Missing what could not be read.
	Notes, Missing []string
}

// The events of a timeline that no component records as such.
const (
	eventObjectCreated     = "ObjectCreated"
	eventObjectUpdated     = "ObjectUpdated"
	eventPodCreated        = "PodCreated"
	eventGated             = "SchedulingGated"
	eventReady             = "Ready"
	eventNotReady          = "NotReady"
	eventStarted           = "Started"
	eventTerminated        = "Terminated"
	eventDeletionRequested = "DeletionRequested"
	eventWritten           = "Written"
	eventReplaces          = "ReplacesPod"
	eventPreempts          = "PreemptsPod"
)

// The events of Kubernetes that say the same as the object.
const (
	eventFailedScheduling = "FailedScheduling"
	eventScheduled        = "Scheduled"
	eventEvicted          = "Evicted"
)

// causes orders what happened in the same second: what comes before can cause what comes after. Events that are not listed come between
// the two parts.
var (
	causesFirst = []string{
		eventObjectCreated, eventObjectUpdated, "ScalingReplicaSet", "SuccessfulCreate", eventPodCreated, eventReplaces, eventGated, eventFailedScheduling, eventPreempts, "NotTriggerScaleUp", "TriggeredScaleUp", eventScheduled, "SuccessfulAttachVolume",
		"Pulling", "Pulled", "Created", eventStarted,
	}
	causesLast = []string{
		eventWritten, eventReady, "Unhealthy", eventNotReady, "BackOff", "SuccessfulDelete", ReasonPreempted, eventEvicted, string(corev1.DisruptionTarget),
		eventDeletionRequested, "Killing", eventTerminated,
	}
)

func causeOf(event string) int {
	if at := slices.Index(causesFirst, event); at >= 0 {
		return at
	}
	if at := slices.Index(causesLast, event); at >= 0 {
		return len(causesFirst) + 1 + at
	}
	return len(causesFirst)
}

// timeline collects entries.
type timeline struct {
	in      *TimelineSnapshot
	entries []diagnosticsv1alpha1.TimelineEntry
}

// PodTimeline tells what happened to a pod, in the order of time, and within a second in the order of cause. What both an event and the
// object tell is told once, by the event, which says who did it.
func PodTimeline(in TimelineSnapshot) *diagnosticsv1alpha1.PodTimeline {
	t := &timeline{in: &in}
	t.events()
	t.preemptions()
	t.created()
	t.conditions()
	t.containers()
	t.deletion()
	t.jobs()
	t.audit()
	t.order()
	out := &diagnosticsv1alpha1.PodTimeline{
		ObjectMeta: metav1.ObjectMeta{Namespace: in.Pod.Namespace, Name: in.Pod.Name, UID: in.Pod.UID},
		Entries:    t.entries, Notes: append(t.notes(), in.Notes...), Incomplete: in.Missing,
	}
	return out
}

func (t *timeline) add(at time.Time, by, event, message string, warning bool) {
	if at.IsZero() {
		return
	}
	t.entries = append(t.entries, diagnosticsv1alpha1.TimelineEntry{
		Time: metav1.NewMicroTime(at), Count: 1, By: by, Event: event, Message: message, Warning: warning,
	})
}

// has is true if an event is told already.
func (t *timeline) has(event string) bool {
	return slices.ContainsFunc(t.entries, func(e diagnosticsv1alpha1.TimelineEntry) bool { return e.Event == event })
}

// order puts the entries into the order of time, and within a second into that of cause, and compares attempts.
func (t *timeline) order() {
	slices.SortStableFunc(t.entries, func(a, b diagnosticsv1alpha1.TimelineEntry) int {
		return cmp.Or(a.Time.Truncate(time.Second).Compare(b.Time.Truncate(time.Second)), causeOf(a.Event)-causeOf(b.Event), a.Time.Compare(b.Time.Time))
	})
	compareAttempts(t.entries)
}

// events adds those of Kubernetes.
func (t *timeline) events() {
	for i := range t.in.Events {
		t.event(&t.in.Events[i], nil)
	}
}

// event adds one, about another object where that is given.
func (t *timeline) event(event *corev1.Event, about *diagnosticsv1alpha1.SourceRef) {
	first, last, count := occurrences(event)
	entry := diagnosticsv1alpha1.TimelineEntry{
		Time: metav1.NewMicroTime(first), Count: count, By: byOf(event), Object: about,
		Event: event.Reason, Message: strings.TrimSpace(event.Message), Warning: event.Type == corev1.EventTypeWarning,
	}
	if last.After(first) {
		entry.LastTime = &metav1.MicroTime{Time: last}
	}
	t.entries = append(t.entries, entry)
}

// byOf is the component that recorded an event.
func byOf(event *corev1.Event) string {
	return cmp.Or(event.ReportingController, event.Source.Component)
}

// occurrences are when an event happened first and last, and how often, as either of the two APIs for events records it.
func occurrences(event *corev1.Event) (first, last time.Time, count int32) {
	first, last, count = event.FirstTimestamp.Time, event.LastTimestamp.Time, max(event.Count, 1)
	if !event.EventTime.IsZero() {
		first = event.EventTime.Time
	}
	if series := event.Series; series != nil {
		last, count = series.LastObservedTime.Time, max(series.Count, 1)
	}
	if first.IsZero() {
		first = event.CreationTimestamp.Time
	}
	return first, last, count
}

// compareAttempts says of each attempt to find a node what differs from the one before of the same pod.
func compareAttempts(entries []diagnosticsv1alpha1.TimelineEntry) {
	before := map[diagnosticsv1alpha1.SourceRef]string{}
	for i := range entries {
		if entries[i].Event != eventFailedScheduling {
			continue
		}
		var pod diagnosticsv1alpha1.SourceRef
		if entries[i].Object != nil {
			pod = *entries[i].Object
		}
		for _, change := range fitmessage.Changes(before[pod], entries[i].Message) {
			entries[i].Changed = append(entries[i].Changed, fmt.Sprintf("%s: %d -> %d", change.Reason, change.Before, change.After))
		}
		before[pod] = entries[i].Message
	}
}

// notes say what holds now without a time.
func (t *timeline) notes() []string {
	var notes []string
	pod := t.in.Pod
	if pod.Status.NominatedNodeName != "" && pod.Spec.NodeName == "" {
		notes = append(notes, fmt.Sprintf("node %s is nominated for the pod, since when is not recorded", pod.Status.NominatedNodeName))
	}
	if t.in.Gone {
		notes = append(notes, "the pod does not exist anymore: what its object told is lost, and the rest is told by what still names it")
	}
	if t.in.EventsSeen && len(t.in.Events) == 0 {
		notes = append(notes, "there are no events: API servers keep them for an hour unless they are configured otherwise")
	}
	return notes
}
