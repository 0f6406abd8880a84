package kubectlplugin

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainQoSPodLong = `Explain what the agent of the node sets for a pod and its containers: the desired value of each file of their cgroups and of
the cgroups above, the feature that sets it and why, and the value in force.`

const explainQoSPodExamples = `  # Show what is set for a pod
  %[1]s explain qos pod web-0 -n shop

  # Print the values that are not as desired
  %[1]s explain qos pod web-0 -n shop -o jsonpath='{.status.agent.pods[0].settings[?(@.matches==false)]}'`

func newExplainQoSCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{Use: qosCommand, Short: "Explain what is set for a pod on its node, and what is in force"}
	addNouns(cmd, s, explainsQoS)
	return cmd
}

type explainQoSOptions struct {
	output
	gate
	namespace, name string
}

func newExplainQoSPodCommand(s *session) *cobra.Command {
	o := &explainQoSOptions{}
	cmd := newObjectCommand(s, source.KindPod, help{
		short: "Explain what is set for a pod on its node, and what is in force", long: explainQoSPodLong, examples: explainQoSPodExamples,
		answer: "NodeExplanation",
	}, o)
	o.output.addFlags(cmd, true)
	o.gate.addFlags(cmd)
	return cmd
}

func (o *explainQoSOptions) complete(_ *cobra.Command, s *session, args []string) error {
	var err error
	if o.namespace, o.name, err = s.object(source.KindPod, args[0]); err != nil {
		return err
	}
	if err := o.gate.complete(); err != nil {
		return err
	}
	return o.output.complete()
}

func (o *explainQoSOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	found, err := src.Pods(ctx, source.PodQuery{Namespace: o.namespace, Names: []string{o.name}})
	if err != nil {
		return err
	}
	if len(found.Items) != 1 || found.Items[0].NodeName == "" {
		err := fmt.Errorf("explain qos of pod %q in namespace %q: the pod does not have a node assigned", o.name, o.namespace)
		return finding.Wrap(err, finding.InvalidArgument, fmt.Sprintf("koordctl explain pod %s -n %s", o.name, o.namespace))
	}
	answer, err := src.ExplainNode(ctx, found.Items[0].NodeName, diagnosticsv1alpha1.NodeExplanationSpec{Agent: &diagnosticsv1alpha1.AgentQuestion{
		Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionPods}, PodNamespace: o.namespace, PodName: o.name,
	}})
	if err != nil {
		return err
	}
	err = o.print(s, answer, source.KindNode.Name, func(w io.Writer, options printer.Options) error { return printer.AgentExplanation(w, answer, options) })
	if err != nil {
		return err
	}
	return o.check(s, answer.Status.Findings, unseen(answer))
}
