package printer

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// PodTimeline prints what happened to a pod, the oldest first.
func PodTimeline(w io.Writer, timeline *diagnosticsv1alpha1.PodTimeline, o Options) error {
	return printTimeline(w, timeline.Entries, timeline.Notes, o)
}

// ObjectTimeline prints what happened to an object and to what is below it, the oldest first.
func ObjectTimeline(w io.Writer, timeline *diagnosticsv1alpha1.ObjectTimeline, o Options) error {
	return printTimeline(w, timeline.Entries, timeline.Notes, o)
}

// printTimeline prints entries and notes; to which object it happened is a column where that is not always the one asked about.
func printTimeline(w io.Writer, entries []diagnosticsv1alpha1.TimelineEntry, notes []string, o Options) error {
	layout := TimelineLayout(entries)
	columns := []column{{header: "TIME"}, {header: "BY", drop: 2}, {header: "OBJECT", flexible: 16}, {header: "EVENT", says: true}, {header: "MESSAGE", flexible: 48, says: true}}
	alone := !slices.ContainsFunc(entries, func(entry diagnosticsv1alpha1.TimelineEntry) bool { return entry.Object != nil })
	if alone {
		columns = slices.Delete(columns, 2, 3)
	}
	t := table{columns: columns}
	for i := range entries {
		entry := &entries[i]
		event := TimelineEvent(entry)
		word := painted(Strong, event)
		if entry.Warning {
			word = styled(o.Style.Mark(Warn) + " " + o.Style.Clean(event))
		}
		row := []cell{text(entry.Time.UTC().Format(layout)), text(orNone(entry.By)), text(timelineObject(entry)), word, text(happened(entry, layout, o))}
		if alone {
			row = slices.Delete(row, 2, 3)
		}
		t.add(row...)
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	var b strings.Builder
	for _, note := range notes {
		wrapped(&b, o, 0, o.Style.Paint(Dim, o.say(note)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// timelineObject is the object of an entry that is not about the one asked about: pod/web-0.
func timelineObject(entry *diagnosticsv1alpha1.TimelineEntry) string {
	if entry.Object == nil {
		return ""
	}
	return strings.ToLower(entry.Object.Kind) + "/" + entry.Object.Name
}

// TimelineLayout is how times of a timeline are written: with the date where entries are of several days.
func TimelineLayout(entries []diagnosticsv1alpha1.TimelineEntry) string {
	if len(entries) > 0 && day(entries[0].Time) != day(entries[len(entries)-1].Time) {
		return "01-02 15:04:05"
	}
	return time.TimeOnly
}

func day(at metav1.MicroTime) string { return at.UTC().Format(time.DateOnly) }

// TimelineEvent is what happened, and how often where it was more than once: FailedScheduling x4.
func TimelineEvent(entry *diagnosticsv1alpha1.TimelineEntry) string {
	if entry.Count > 1 {
		return fmt.Sprintf("%s x%d", entry.Event, entry.Count)
	}
	return entry.Event
}

// TimelineMessage is the message of an entry; of a further attempt to find a node, unless the whole is asked for, what differs from the one
// before.
func TimelineMessage(entry *diagnosticsv1alpha1.TimelineEntry, whole bool) string {
	if len(entry.Changed) > 0 && !whole {
		return "nodes that refuse: " + strings.Join(entry.Changed, ", ")
	}
	return entry.Message
}

// happened is the message of an entry, and until when it happened.
func happened(entry *diagnosticsv1alpha1.TimelineEntry, layout string, o Options) string {
	message := TimelineMessage(entry, o.Wide)
	if entry.LastTime != nil {
		message = strings.TrimPrefix(message+"; until "+entry.LastTime.UTC().Format(layout), "; ")
	}
	return message
}
