package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
  %[1]s events executor-7 -n spark

  # Keep printing what happens
  %[1]s events pod spark-driver -n etl -w

  # Show the attempts to find a node with the whole messages
  %[1]s events pod spark-driver -n etl -o wide`

const eventsObjectLong = `Show what happened to an object, the oldest first, and what happened in the same second in the order in which one causes the next: its
events, when it was created and last written, and by whom, and since when its conditions are as they are.

  workloads, gangs  also the events of their pods, those of pods that were deleted among them, and of the ReplicaSets of a Deployment
  nodes             also which pods koordlet evicted
  quotas            also which pods had to leave because the quota used more than its runtime
  migrations        also the steps of the PodMigrationJob

API servers forget events after an hour, unless they are configured otherwise.`

const eventsObjectExamples = `  # %[2]s
  %%[1]s events %[1]s NAME

  # Keep printing what happens
  %%[1]s events %[1]s NAME -w

  # Show what happened to whatever has this name: a pod, a workload, a node, an ElasticQuota
  %%[1]s events NAME`

// ofAnyKind is the flag of events pod for a name whose kind is to be found out.
const ofAnyKind = "--of-any-kind"

func newEventsCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{Use: eventsCommand, Aliases: []string{"timeline"}, Short: "Show what happened to an object, in the order of cause", GroupID: "see"}
	addNouns(cmd, s, timelines)
	return cmd
}

// eventsOptions are those of a question about one object.
type eventsOptions struct {
	output
	watch
	strict          bool
	anyKind         bool
	kind            source.Kind
	namespace, name string
}

func newEventsPodCommand(s *session) *cobra.Command {
	o := &eventsOptions{kind: source.KindPod}
	cmd := o.command(s, help{
		short: "Show what happened to a pod, in the order of cause", long: eventsPodLong, examples: eventsPodExamples, answer: "PodTimeline",
	})
	name := strings.TrimPrefix(ofAnyKind, "--")
	cmd.Flags().BoolVar(&o.anyKind, name, false, "Find out which kind of object has the name")
	must(cmd.Flags().MarkHidden(name))
	return cmd
}

// newEventsObjectCommand makes the adapter for objects other than pods.
func newEventsObjectCommand(kind source.Kind) adapter {
	return func(s *session) *cobra.Command {
		o := &eventsOptions{kind: kind}
		short := "Show what happened to a " + kind.Name + ", in the order of cause"
		if kind == source.KindWorkers { // whose name is a plural
			short = "Show what happened to workers, in the order of cause"
		}
		example, _, _ := strings.Cut(short, ",")
		return o.command(s, help{
			short: short, long: eventsObjectLong, examples: fmt.Sprintf(eventsObjectExamples, kind.Name, example), answer: "ObjectTimeline",
		})
	}
}

func (o *eventsOptions) command(s *session, texts help) *cobra.Command {
	cmd := newObjectCommand(s, o.kind, texts, o)
	o.output.addFlags(cmd, true)
	o.watch.addFlags(cmd)
	addStrictFlag(cmd, &o.strict)
	return cmd
}

func (o *eventsOptions) complete(_ *cobra.Command, s *session, args []string) error {
	var err error
	if o.namespace, o.name, err = s.object(o.kind, args[0]); err != nil {
		return err
	}
	return o.output.complete()
}

func (o *eventsOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	if o.anyKind {
		if o.kind, err = o.findKind(ctx, s, src); err != nil {
			return err
		}
	}
	if o.kind != source.KindPod {
		reader, can := src.(source.ObjectTimelineReader)
		if !can {
			return fmt.Errorf("this source does not tell what happened to a %s", o.kind)
		}
		return tellTimeline(ctx, s, o, printer.ObjectTimeline, objectParts, func(ctx context.Context) (*diagnosticsv1alpha1.ObjectTimeline, error) {
			return reader.ObjectTimeline(ctx, o.kind, o.namespace, o.name)
		})
	}
	reader, can := src.(source.TimelineReader)
	if !can {
		return errors.New("this source does not tell what happened to pods")
	}
	return tellTimeline(ctx, s, o, printer.PodTimeline, podParts, func(ctx context.Context) (*diagnosticsv1alpha1.PodTimeline, error) {
		return reader.PodTimeline(ctx, o.namespace, o.name)
	})
}

// findKind is the kind of the only object of the name; that of pods where there is none, as a pod may be gone and still be told of.
func (o *eventsOptions) findKind(ctx context.Context, s *session, src source.Source) (source.Kind, error) {
	reader, can := src.(source.ObjectReader)
	if !can {
		return source.KindPod, nil
	}
	found, unseen, err := source.KindsNamed(ctx, reader, kindsOf(timelines), o.namespace, o.name)
	switch {
	case err != nil:
		return source.Kind{}, err
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return source.Kind{}, ambiguous(o.name, found)
	}
	_ = incomplete(s, unseen, false) // it fails only when it is strict
	return source.KindPod, nil
}
