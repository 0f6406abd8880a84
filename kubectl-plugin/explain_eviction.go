package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainEvictionLong = `Explain who could evict a pod now, in which order, what each would need for it, and what protects the pod from each.

  kubelet      node-pressure eviction
  preemption   a pending pod of a higher priority
  agent        the eviction features of koordlet
  quota        a quota above its runtime that revokes what it lent
  descheduler  a PodMigrationJob of koord-descheduler
  drain        kubectl drain, through the eviction API

The decisions are those of the components' own code, made from API objects. What could not be read is named, and nothing is
concluded from it.`

const explainEvictionExamples = `  # Show who could evict a pod
  %[1]s explain eviction web-0 -n shop

  # Print those that could evict it now
  %[1]s explain eviction web-0 -n shop -o jsonpath='{.evictors[?(@.state=="now")].name}'`

type explainEvictionOptions struct {
	output
	strict          bool
	namespace, name string
}

func newExplainEvictionCommand(s *session) *cobra.Command {
	o := &explainEvictionOptions{}
	cmd := &cobra.Command{
		Use:               "eviction POD",
		Aliases:           []string{"evictions"},
		Short:             "Explain who could evict a pod, and what protects it",
		Long:              explainEvictionLong,
		Example:           fmt.Sprintf(explainEvictionExamples, s.Name),
		Annotations:       map[string]string{answerAnnotation: "EvictionExplanation"},
		Args:              exactlyOne("pod name"),
		ValidArgsFunction: completeNames(s, source.KindPod, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.namespace, o.name, err = s.object(source.KindPod, args[0]); err != nil {
				return err
			}
			if err := o.output.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, true)
	addStrictFlag(cmd, &o.strict)
	return cmd
}

func (o *explainEvictionOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	explainer, can := src.(source.EvictionExplainer)
	if !can {
		return errors.New("this source does not explain evictions")
	}
	answer, err := explainer.ExplainEviction(ctx, o.namespace, o.name)
	if err != nil {
		return err
	}
	err = o.print(s, answer, source.KindPod.Name, func(w io.Writer, options printer.Options) error {
		return printer.EvictionExplanation(w, answer, options)
	})
	if err != nil {
		return err
	}
	return incomplete(s, answer.Incomplete, o.strict)
}
