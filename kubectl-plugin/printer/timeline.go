package printer

import (
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// PodTimeline prints what happened to a pod, the oldest first.
func PodTimeline(w io.Writer, timeline *diagnosticsv1alpha1.PodTimeline, o Options) error {
	layout := TimelineLayout(timeline.Entries)
	t := table{columns: []column{{header: "TIME"}, {header: "BY", drop: 2}, {header: "EVENT"}, {header: "MESSAGE", flexible: 48}}}
	for i := range timeline.Entries {
		entry := &timeline.Entries[i]
		event := TimelineEvent(entry)
		word := painted(Strong, event)
		if entry.Warning {
			word = styled(o.Style.Mark(Warn) + " " + o.Style.Clean(event))
		}
		t.add(text(entry.Time.UTC().Format(layout)), text(orNone(entry.By)), word, text(happened(entry, layout, o)))
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	var b strings.Builder
	for _, note := range timeline.Notes {
		wrapped(&b, o, 0, o.Style.Paint(Dim, o.Style.Clean(note)))
	}
	_, err := io.WriteString(w, b.String())
	return err
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
