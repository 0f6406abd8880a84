package kubectlplugin

import (
	"context"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
)

// timelineParts are what all timelines have.
type timelineParts struct {
	entries    *[]diagnosticsv1alpha1.TimelineEntry
	notes      *[]string
	incomplete []string
}

func podParts(t *diagnosticsv1alpha1.PodTimeline) timelineParts {
	return timelineParts{&t.Entries, &t.Notes, t.Incomplete}
}

func objectParts(t *diagnosticsv1alpha1.ObjectTimeline) timelineParts {
	return timelineParts{&t.Entries, &t.Notes, t.Incomplete}
}

// timeline is an answer that can be copied.
type timeline[T any] interface {
	*T
	runtime.Object
	DeepCopy() *T
}

// tellTimeline asks and prints, again and again where it is watched: then only what is new.
func tellTimeline[T any, P timeline[T]](ctx context.Context, s *session, o *eventsOptions, people func(io.Writer, *T, printer.Options) error,
	parts func(*T) timelineParts, ask func(context.Context) (*T, error),
) error {
	show := func(answer *T, first bool) error {
		err := o.print(s, P(answer), o.kind.Name, func(w io.Writer, options printer.Options) error {
			options.NoHeaders = options.NoHeaders || !first
			return people(w, answer, options)
		})
		if err != nil || !first {
			return err
		}
		return incomplete(s, parts(answer).incomplete, o.strict)
	}
	if !o.on {
		answer, err := ask(ctx)
		if err != nil {
			return err
		}
		return show(answer, true)
	}
	return repeat(ctx, s.Clock, time.Duration(o.interval), question[*T]{
		ask: ask,
		changed: func(before, now *T) (*T, bool) {
			news := P(now).DeepCopy()
			of := parts(news)
			*of.entries, *of.notes = different(*parts(before).entries, *parts(now).entries, entryKey), nil
			return news, len(*of.entries) > 0
		},
		show: show,
	})
}

// entryKey tells entries apart. Containers of a pod may start in the same second.
func entryKey(e *diagnosticsv1alpha1.TimelineEntry) string {
	object := ""
	if e.Object != nil {
		object = e.Object.Kind + "/" + e.Object.Name
	}
	return e.Time.String() + " " + e.By + " " + object + " " + e.Event + " " + e.Message
}
