package kubectlplugin

import (
	"context"
	"fmt"
	"io"
	"maps"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/config/configplan"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/proposal"
)

const configPlanLong = `Show what a change of the configuration would do, without making it: which nodes match which strategy, which settings change on
which nodes, how much batch and mid each node offers before and after, which pods would be suppressed or evicted at once, and
which quotas get another share.

The numbers come from the same code that koord-manager runs, applied to the current cluster. Without a change, it shows what
would happen if everything in the ConfigMap came into force.

A change that has errors would not be written, and has no plan.

Exit codes: 0 nothing would change, 1 something would, 2 the change has errors or the plan could not be made.`

const configPlanExamples = `  # Plan a change of one value
  %[1]s config plan colocation-config.cpuReclaimThresholdPercent=70

  # Plan a file, and list every node
  %[1]s config plan -f slo-controller-config.yaml -o wide

  # List the nodes that would offer less batch-cpu
  %[1]s config plan -f new.yaml -o json | jq '.items[] | select(.offers[]? | .resource == "kubernetes.io/batch-cpu" and .new < .old).name'`

// proposalFlags say which configuration is looked at in place of the current one.
type proposalFlags struct {
	file     string
	revision int64
}

func (o *proposalFlags) addFlags(cmd *cobra.Command, s *session) {
	cmd.Flags().StringVarP(&o.file, "filename", "f", "", "File that contains the new configuration, - for standard input; keys it does not name stay")
	cmd.Flags().Int64Var(&o.revision, "revision", 0, "Revision to return to, see config history")
	must(cmd.RegisterFlagCompletionFunc("revision", completeRevisions(s)))
}

func (o *proposalFlags) given(args []string) bool {
	return o.file != "" || o.revision != 0 || len(args) > 0
}

func (o *proposalFlags) complete(args []string) error {
	n := min(len(args), 1)
	if o.file != "" {
		n++
	}
	if o.revision != 0 {
		n++
	}
	if n > 1 {
		return usage("KEY.PATH=VALUE, --filename and --revision cannot be used together")
	}
	return nil
}

// data is the configuration that is proposed over the current one.
func (o *proposalFlags) data(ctx context.Context, s *session, configurator source.Configurator, current *source.Configuration, args []string) (map[string]string, error) {
	switch {
	case o.file != "":
		file, err := readConfigFile(s, o.file, parseConfigFile)
		if err != nil {
			return nil, err
		}
		if err := file.belongsTo(current); err != nil {
			return nil, err
		}
		merged := maps.Clone(file.data)
		for key, text := range current.Base() {
			if _, named := merged[key]; !named {
				merged[key] = text
			}
		}
		return merged, nil
	case o.revision != 0:
		revision, err := findRevision(ctx, configurator, current.Namespace, o.revision)
		return revision.Data, err
	}
	return assign(current.Base(), args)
}

// plan is the plan of what is proposed. A proposal with errors has none: the consequence is said.
func (o *proposalFlags) plan(ctx context.Context, s *session, args []string, consequence string) (*madePlan, error) {
	configurator, err := s.configurator()
	if err != nil {
		return nil, err
	}
	current, err := s.configuration(ctx, configurator)
	if err != nil {
		return nil, err
	}
	data := current.Base()
	if o.given(args) {
		if data, err = o.data(ctx, s, configurator, current, args); err != nil {
			return nil, err
		}
	}
	made, err := makePlan(ctx, s, configurator, proposal.Change{Current: current, Data: data})
	if err != nil {
		return nil, err
	}
	return made, refuse(s, made.Change, made.Found, consequence)
}

type configPlanOptions struct {
	output
	gate
	proposalFlags
}

func newConfigPlanCommand(s *session) *cobra.Command {
	o := &configPlanOptions{}
	cmd := &cobra.Command{
		Use:               "plan [KEY.PATH=VALUE...]",
		Short:             "Show what a change would do, before it is made",
		Long:              configPlanLong,
		Example:           fmt.Sprintf(configPlanExamples, s.Name),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeKeyPaths(true, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, complete := range []func() error{o.gate.complete, o.output.complete, func() error { return o.proposalFlags.complete(args) }} {
				if err := complete(); err != nil {
					return err
				}
			}
			differs, err := o.run(cmd.Context(), s, args)
			if ExitCode(err) == ExitFindings {
				return err
			}
			return compared(differs, err)
		},
	}
	o.output.addFlags(cmd, false)
	o.gate.addFlags(cmd)
	o.proposalFlags.addFlags(cmd, s)
	return cmd
}

func (o *configPlanOptions) run(ctx context.Context, s *session, args []string) (bool, error) {
	made, err := o.plan(ctx, s, args, "there is no plan for it")
	if err != nil {
		return false, err
	}
	list, err := made.list()
	if err != nil {
		return false, err
	}
	err = o.print(s, list, "node", func(w io.Writer, options printer.Options) error {
		return printer.ConfigPlan(w, made.view(), options)
	})
	if err != nil {
		return false, err
	}
	return !made.Empty(), o.check(s, plainFindings(made.Found), made.Missing)
}

// madePlan is a plan, with what became of the change where that was written.
type madePlan struct {
	*proposal.Plan
	applied *proposal.Written
}

// makePlan reads what the change has an effect on and computes it.
func makePlan(ctx context.Context, s *session, configurator source.Configurator, c proposal.Change) (*madePlan, error) {
	defer s.collectLess()()
	plan, err := proposal.Of(ctx, configurator, c, s.Clock.Now())
	if err != nil {
		return nil, err
	}
	return &madePlan{Plan: plan}, nil
}

// view is what is printed of a plan.
func (m *madePlan) view() printer.ConfigPlanView {
	return printer.ConfigPlanView{Subject: m.Change.Subject(), Plan: m.Plan.Plan, Findings: m.Found}
}

// list is the plan as an object: one item a node, the rest beside them.
func (m *madePlan) list() (*unstructured.UnstructuredList, error) {
	rest := *m.Plan.Plan
	rest.Nodes = nil
	whole := struct {
		configplan.Plan
		Findings   []decision.Finding                 `json:"findings,omitempty"`
		Unknown    []diagnosticsv1alpha1.UnknownInput `json:"unknown,omitempty"`
		Incomplete []string                           `json:"incomplete,omitempty"`
		Applied    *proposal.Written                  `json:"applied,omitempty"`
	}{rest, m.Found, m.Unknown.List(), m.Missing, m.applied}
	return listOf("ConfigPlanNode", m.Nodes, func(n *configplan.NodeChange) string { return n.Name }, whole)
}
