package kubectlplugin

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const eventsPodLong = `Show what happened to a pod, the oldest first, and what happened in the same second in the order in which one causes the next: its
events, what its object tells, the pods that it preempted, the steps of PodMigrationJobs, and what the agent of its node did. A pod that
does not exist anymore is told of by what still names it.

Of an attempt to find a node, what differs from the attempt before is shown: for each reason, how many nodes refused the pod then and now.
API servers forget events after an hour, unless they are configured otherwise, and agents their log when they restart.`

const eventsPodExamples = `  # Show what happened to a pod
  %[1]s events pod spark-driver -n etl

  # Show what happened to a pod that was evicted and deleted
  %[1]s events pod executor-7 -n spark

  # Keep printing what happens
  %[1]s events pod spark-driver -n etl -w

  # Show the attempts to find a node with the whole messages
  %[1]s events pod spark-driver -n etl -o wide`

func newEventsCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{Use: eventsCommand, Aliases: []string{"timeline"}, Short: "Show what happened to an object, in the order of cause", GroupID: "see"}
	addNouns(cmd, s, timelines)
	return cmd
}

type eventsPodOptions struct {
	output
	watch
	strict          bool
	namespace, name string
}

func newEventsPodCommand(s *session) *cobra.Command {
	o := &eventsPodOptions{}
	cmd := newObjectCommand(s, source.KindPod, help{
		short: "Show what happened to a pod, in the order of cause", long: eventsPodLong, examples: eventsPodExamples,
		answer: "PodTimeline",
	}, o)
	o.output.addFlags(cmd, true)
	o.watch.addFlags(cmd)
	addStrictFlag(cmd, &o.strict)
	return cmd
}

func (o *eventsPodOptions) complete(_ *cobra.Command, s *session, args []string) error {
	var err error
	if o.namespace, o.name, err = s.object(source.KindPod, args[0]); err != nil {
		return err
	}
	return o.output.complete()
}

func (o *eventsPodOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	reader, can := src.(source.TimelineReader)
	if !can {
		return errors.New("this source does not tell what happened to pods")
	}
	q := question[*diagnosticsv1alpha1.PodTimeline]{
		ask: func(ctx context.Context) (*diagnosticsv1alpha1.PodTimeline, error) {
			return reader.PodTimeline(ctx, o.namespace, o.name)
		},
		changed: func(before, now *diagnosticsv1alpha1.PodTimeline) (*diagnosticsv1alpha1.PodTimeline, bool) {
			news := *now
			news.Entries, news.Notes = different(before.Entries, now.Entries, entryKey), nil
			return &news, len(news.Entries) > 0
		},
		show: func(answer *diagnosticsv1alpha1.PodTimeline, first bool) error { return o.show(s, answer, first) },
	}
	if o.on {
		return repeat(ctx, s.Clock, time.Duration(o.interval), q)
	}
	answer, err := q.ask(ctx)
	if err != nil {
		return err
	}
	return q.show(answer, true)
}

// entryKey tells entries apart. Containers of a pod may start in the same second.
func entryKey(e *diagnosticsv1alpha1.TimelineEntry) string {
	return e.Time.String() + " " + e.By + " " + e.Event + " " + e.Message
}

func (o *eventsPodOptions) show(s *session, answer *diagnosticsv1alpha1.PodTimeline, first bool) error {
	err := o.print(s, answer, source.KindPod.Name, func(w io.Writer, options printer.Options) error {
		options.NoHeaders = options.NoHeaders || !first
		return printer.PodTimeline(w, answer, options)
	})
	if err != nil || !first {
		return err
	}
	return incomplete(s, answer.Incomplete, o.strict)
}
