package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/nodeqos/agentview"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const auditNodeLong = `Show what the agent of a node did on it: every write to a file of the kernel and every eviction, with the value before and
after, the feature that asked for it and why, and the kernel's error if the write failed. The log starts empty when the agent
restarts.

Among them, sorted by time, are the steps of the PodMigrationJobs that move pods off the node or onto it: owner koord-descheduler, with
the node that the pod leaves and the step. When a job was arbitrated is not recorded; it is shown with the time of its next step.`

const auditNodeExamples = `  # Show the latest entries
  %[1]s audit node worker-1

  # Keep printing new entries
  %[1]s audit node worker-1 -f

  # Show what happened to a pod in the last ten minutes
  %[1]s audit node worker-1 --pod shop/web-0 --since 10m

  # Show the writes that failed
  %[1]s audit node worker-1 --tail 2048 -o jsonpath='{.status.agent.audit.entries[?(@.error)]}'`

// auditEvery is the time between two questions of a log that is followed.
const auditEvery = 2 * time.Second

func newAuditCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{Use: auditCommand, Short: "Show what node agents did", GroupID: "see"}
	addNouns(cmd, s, audits)
	return cmd
}

type auditOptions struct {
	output
	name   string
	follow bool
	tail   int32
	pod    string
	since  time.Duration
	// shown are the steps of jobs that were printed, and unlisted that it was said why there are none.
	shown    map[string]bool
	unlisted bool
}

func newAuditNodeCommand(s *session) *cobra.Command {
	o := &auditOptions{}
	cmd := newObjectCommand(s, source.KindNode, help{
		short: "Show what the agent of a node did, and why", long: auditNodeLong, examples: auditNodeExamples,
		answer: "NodeExplanation",
	}, o)
	o.output.addFlags(cmd, true)
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "Keep printing new entries until interrupted, also after the agent restarts")
	cmd.Flags().StringVar(&o.pod, "pod", "", "Show only entries whose object contains this, such as NAMESPACE/NAME of a pod")
	must(cmd.RegisterFlagCompletionFunc("pod", completeNames(s, source.KindPod, 0)))
	cmd.Flags().DurationVar(&o.since, "since", 0, "Show only entries newer than a duration such as 10m; 0 shows all")
	cmd.Flags().Int32Var(&o.tail, "tail", 100, "Number of recent entries to show first, 1 to 2048")
	return cmd
}

func (o *auditOptions) complete(_ *cobra.Command, s *session, args []string) error {
	var err error
	if _, o.name, err = s.object(source.KindNode, args[0]); err != nil {
		return err
	}
	if o.tail < 1 || o.tail > 2048 {
		return usage("--tail %d: must be 1 to 2048", o.tail)
	}
	if o.since < 0 {
		return usage("--since %s: must not be negative", o.since)
	}
	return o.output.complete()
}

func (o *auditOptions) run(ctx context.Context, s *session) error {
	src, err := s.connect()
	if err != nil {
		return err
	}
	question := &diagnosticsv1alpha1.AuditQuestion{Size: &o.tail}
	for first, silent := true, false; ; {
		answer, err := o.ask(ctx, src, question)
		switch {
		case !first && errors.Is(ctx.Err(), context.Canceled):
			return nil
		case err != nil:
			return err
		case answer.Status.Agent != nil && answer.Status.Agent.Audit != nil:
			o.addMigrations(ctx, s, src, answer.Status.Agent.Audit)
			o.filter(s, answer.Status.Agent.Audit)
			if err := o.show(s, answer, first); err != nil || !o.follow {
				return err
			}
			agent := answer.Status.Agent
			question = &diagnosticsv1alpha1.AuditQuestion{After: &agent.Audit.Last, Instance: agent.Instance, Size: new(int32(2048))}
			first, silent = false, false
		case first:
			return o.unheard(answer)
		case !silent: // it is started again, as a rule
			s.tell("The agent of node %s is not responding, waiting for it.", o.name)
			silent = true
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.Clock.After(auditEvery):
		}
	}
}

// ask for a page of the log.
func (o *auditOptions) ask(ctx context.Context, src source.Source, question *diagnosticsv1alpha1.AuditQuestion) (*diagnosticsv1alpha1.NodeExplanation, error) {
	return src.ExplainNode(ctx, o.name, diagnosticsv1alpha1.NodeExplanationSpec{Agent: &diagnosticsv1alpha1.AgentQuestion{
		Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionAudit}, Audit: question,
	}})
}

// show prints a page; only the first one has headers, and later ones only where there is something new.
func (o *auditOptions) show(s *session, answer *diagnosticsv1alpha1.NodeExplanation, first bool) error {
	if !first && len(answer.Status.Agent.Audit.Entries) == 0 {
		return nil
	}
	return o.print(s, answer, source.KindNode.Name, func(w io.Writer, options printer.Options) error {
		options.NoHeaders = options.NoHeaders || !first
		if first && len(answer.Status.Agent.Audit.Entries) == 0 {
			s.tell("No audit entries found for node %s.", o.name)
			return nil
		}
		return printer.Audit(w, answer.Status.Agent.Audit, options)
	})
}

// unheard is the error for a log that only the agent has.
func (o *auditOptions) unheard(answer *diagnosticsv1alpha1.NodeExplanation) error {
	why, hint, code := "its agent keeps no audit log", "", finding.AgentUnavailable
	if agent := answer.Status.Agent; agent != nil && len(agent.Incomplete) > 0 {
		why = agent.Incomplete[0]
		if agent.Component == agentview.BySimulated {
			hint = "koordctl sandbox up --real-node makes this machine a node with its own agent"
		}
	}
	for _, found := range answer.Status.Findings {
		why, hint, code = found.Message, found.Hint, finding.Code(found.Code)
	}
	return finding.Wrap(fmt.Errorf("read the audit log of node %q: %s", o.name, why), code, hint)
}
