package objects

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// ObjectSnapshot is what the timeline of an object other than a pod is made from.
type ObjectSnapshot struct {
	// Kind, Namespace and Name of the object.
	Kind, Namespace, Name string
	// Object as the API server has it, with its managed fields; nil for one that does not exist, or not anymore.
	Object *unstructured.Unstructured
	// Job is the object if it is a PodMigrationJob.
	Job *schedulingv1alpha1.PodMigrationJob
	// Events about objects of that name, and EventsSeen that they could be read.
	Events     []corev1.Event
	EventsSeen bool
	// Below are events about objects below it, such as its pods.
	Below []corev1.Event
	// Audit is the log of the agent, of a node.
	Audit []diagnosticsv1alpha1.AuditEntry
	// Notes say what of this does not exist, and Missing what could not be read.
	Notes, Missing []string
}

// Told is false where nothing tells of the object.
func (in *ObjectSnapshot) Told() bool { return in.Object != nil || len(in.Events)+len(in.Below) > 0 }

// ObjectTimeline tells what happened to an object and to what is below it, in the order of time, and within a second in the order of cause.
func ObjectTimeline(in *ObjectSnapshot) *diagnosticsv1alpha1.ObjectTimeline {
	t := &timeline{}
	for i := range in.Events {
		if in.about(&in.Events[i]) {
			t.event(&in.Events[i], nil)
		}
	}
	for i := range in.Below {
		about := in.Below[i].InvolvedObject
		t.event(&in.Below[i], &diagnosticsv1alpha1.SourceRef{Kind: about.Kind, Namespace: about.Namespace, Name: about.Name})
	}
	t.object(in)
	t.evictions(in.Audit)
	t.order()
	out := &diagnosticsv1alpha1.ObjectTimeline{
		ObjectMeta: metav1.ObjectMeta{Namespace: in.Namespace, Name: in.Name},
		Object:     diagnosticsv1alpha1.SourceRef{Kind: in.Kind, Namespace: in.Namespace, Name: in.Name},
		Entries:    t.entries, Notes: in.notes(), Incomplete: in.Missing,
	}
	if in.Object != nil {
		out.UID = in.Object.GetUID()
	}
	return out
}

// about is true for an event about the object itself, and not about an earlier one of the name. Events about nodes have the name in place
// of the UID.
func (in *ObjectSnapshot) about(event *corev1.Event) bool {
	uid := event.InvolvedObject.UID
	return in.Object == nil || uid == "" || uid == in.Object.GetUID() || string(uid) == in.Name
}

// notes say what is not recorded.
func (in *ObjectSnapshot) notes() []string {
	notes := append([]string{}, in.Notes...)
	if in.Object == nil {
		notes = append(notes, "the object does not exist: what it told is lost, and the rest is told by what still names it")
	}
	if in.EventsSeen && len(in.Events)+len(in.Below) == 0 {
		notes = append(notes, "there are no events: API servers keep them for an hour unless they are configured otherwise")
	}
	return notes
}

// object adds what the object itself tells: when it was created, written and deleted, and how its conditions stand.
func (t *timeline) object(in *ObjectSnapshot) {
	if in.Object == nil {
		return
	}
	created := in.Object.GetCreationTimestamp().Time
	by := ""
	for _, field := range in.Object.GetManagedFields() {
		switch at := field.Time; {
		case at == nil || field.Subresource != "":
		case at.Time.Equal(created):
			by = cmp.Or(by, field.Manager)
		default:
			t.add(at.Time, field.Manager, eventObjectUpdated, "last time", false)
		}
	}
	t.add(created, by, eventObjectCreated, "", false)
	if at := in.Object.GetDeletionTimestamp(); at != nil {
		t.add(at.Time, "", eventDeletionRequested, "", false)
	}
	if in.Job != nil {
		for _, moment := range migration.Timeline(in.Job) {
			t.add(moment.At, descheduler, "Migration"+moment.Event, moment.Message, moment.Failed)
		}
		return
	}
	t.stands(in.Object)
}

// stands adds since when the conditions of an object are as they are.
func (t *timeline) stands(object *unstructured.Unstructured) {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		text := func(key string) string { value, _ := condition[key].(string); return value }
		at, err := time.Parse(time.RFC3339, text("lastTransitionTime"))
		kind := text("type")
		if err != nil || kind == "" {
			continue
		}
		event, message := kind, strings.TrimPrefix(text("reason")+": "+text("message"), ": ")
		switch status := text("status"); status {
		case string(metav1.ConditionTrue):
		case string(metav1.ConditionFalse):
			event = "Not" + kind
		default:
			message = fmt.Sprintf("is %s: %s", status, message)
		}
		t.add(at, "", event, strings.TrimSuffix(message, ": "), event == eventNotReady)
	}
}

// evictions adds the pods that the agent of a node evicted.
func (t *timeline) evictions(log []diagnosticsv1alpha1.AuditEntry) {
	for i := range log {
		entry := &log[i]
		name, pod := strings.CutPrefix(entry.Object, "pod ")
		if !pod || entry.New != evicted {
			continue
		}
		t.add(entry.Time.Time, koordlet+"/"+entry.Owner, eventEvicted, written("", entry), true)
		namespace, name, _ := strings.Cut(name, "/")
		t.entries[len(t.entries)-1].Object = &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: namespace, Name: name}
	}
}
