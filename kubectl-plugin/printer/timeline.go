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
	layout := timeLayout(timeline.Entries)
	t := table{columns: []column{{header: "TIME"}, {header: "BY", drop: 2}, {header: "EVENT"}, {header: "MESSAGE", flexible: 48}}}
	for i := range timeline.Entries {
		entry := &timeline.Entries[i]
		event := entry.Event
		if entry.Count > 1 {
			event += fmt.Sprintf(" x%d", entry.Count)
		}
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

// timeLayout has the date where entries are of several days.
func timeLayout(entries []diagnosticsv1alpha1.TimelineEntry) string {
	if len(entries) > 0 && day(entries[0].Time) != day(entries[len(entries)-1].Time) {
		return "01-02 15:04:05"
	}
	return time.TimeOnly
}

func day(at metav1.MicroTime) string { return at.UTC().Format(time.DateOnly) }

// happened is the message of an entry; of a further attempt to find a node, what differs from the one before.
func happened(entry *diagnosticsv1alpha1.TimelineEntry, layout string, o Options) string {
	message := entry.Message
	if len(entry.Changed) > 0 && !o.Wide {
		message = "nodes that refuse: " + strings.Join(entry.Changed, ", ")
	}
	if entry.LastTime != nil {
		message = strings.TrimPrefix(message+"; until "+entry.LastTime.UTC().Format(layout), "; ")
	}
	return message
}
