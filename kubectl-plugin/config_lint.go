package kubectlplugin

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/kubectl-plugin/printer"
)

const configLintLong = `Check the whole configuration and report all problems at once: values that cannot be read or are out of range, with their
line; unknown keys and fields; node strategies that overlap or select no node; settings without effect because what they depend
on is missing; settings that conflict with each other or with those of the scheduler; and thresholds of the node agent, the
scheduler and the descheduler that make pods go in circles.

With -f a file is checked, a ConfigMap or its data alone, and no cluster is contacted unless --cluster is given. The file may also
contain ConfigMaps koord-scheduler-config and koord-descheduler-config, as the output of helm template does. Lines are counted
within the key, and within the file if the key is written as a block.`

const configLintExamples = `  # Check the configuration of the cluster
  %[1]s config lint

  # Check a file in a pipeline, and exit with 79 if it has errors
  %[1]s config lint -f slo-controller-config.yaml --fail-on error

  # Check a file against the nodes of the cluster
  %[1]s config lint -f slo-controller-config.yaml --cluster -o json

  # Check what the chart would install
  helm template koordinator ./koordinator | %[1]s config lint -f -

  # Check a descheduler configuration against the configuration of the cluster
  %[1]s config lint -f koord-descheduler-config.yaml --cluster`

type configLintOptions struct {
	output
	gate
	file    string
	cluster bool
}

func newConfigLintCommand(s *session) *cobra.Command {
	o := &configLintOptions{}
	cmd := &cobra.Command{
		Use:     "lint",
		Short:   "Check the configuration and report all problems",
		Long:    configLintLong,
		Example: fmt.Sprintf(configLintExamples, s.Name),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.gate.complete(); err != nil {
				return err
			}
			if err := o.output.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, false)
	o.gate.addFlags(cmd)
	cmd.Flags().StringVarP(&o.file, "filename", "f", "", "File to check instead of the cluster's configuration, - for standard input")
	cmd.Flags().BoolVar(&o.cluster, "cluster", false, "Check a file against the nodes and the scheduler of the cluster")
	return cmd
}

func (o *configLintOptions) run(ctx context.Context, s *session) error {
	subject, in, file, missing, err := o.input(ctx, s)
	if err != nil {
		return err
	}
	found := decision.Validate(in)
	placeInFile(found, file)
	list, err := findingList(found)
	if err != nil {
		return err
	}
	err = o.print(s, list, "finding", func(w io.Writer, options printer.Options) error {
		return printer.ConfigFindings(w, subject, found, options)
	})
	if err != nil {
		return err
	}
	return o.check(s, plainFindings(found), missing)
}

// input is what is checked, and what it is called.
func (o *configLintOptions) input(ctx context.Context, s *session) (string, decision.Input, *configFile, []string, error) {
	var in decision.Input
	var file *configFile
	var err error
	if o.file != "" {
		if file, err = readConfigFile(s, o.file, parseComponents); err != nil {
			return "", in, nil, nil, err
		}
		in.Data = file.data
		if !o.cluster {
			return file.name, in, file, nil, file.judgeBy(&in)
		}
	}
	configurator, err := s.configurator()
	if err != nil {
		return "", in, nil, nil, err
	}
	current, err := configurator.Configuration(ctx, s.systemNamespace())
	if err != nil {
		return "", in, nil, nil, err
	}
	subject := configMapName(current)
	if file != nil {
		if err := file.belongsTo(current); err != nil {
			return "", in, nil, nil, err
		}
		subject = file.name
	}
	if in.Data == nil {
		in.Data = current.Base()
	}
	missing := current.Incomplete
	in.LoadAware, in.Descheduler, in.Features = current.LoadAware, current.Descheduler, current.Features
	if file != nil {
		if err := file.judgeBy(&in); err != nil {
			return "", in, nil, nil, err
		}
	}
	nodes, err := configurator.ConfigurationNodes(ctx)
	if err != nil {
		missing = append(missing, err.Error()+"; strategies are checked by their selectors only")
	}
	in.Nodes = pointersTo(nodes)
	if file == nil && !current.Exists {
		warnMissing(s, current)
	}
	return subject, in, file, missing, nil
}

func pointersTo(nodes []corev1.Node) []*corev1.Node {
	out := make([]*corev1.Node, len(nodes))
	for i := range nodes {
		out[i] = &nodes[i]
	}
	return out
}

func placeInFile(found []decision.Finding, file *configFile) {
	if file == nil {
		return
	}
	for i := range found {
		if start := file.lines[found[i].Key]; start > 0 && found[i].Line > 0 {
			found[i].FileLine = start + found[i].Line - 1
		}
	}
}

func findingList(found []decision.Finding) (*unstructured.UnstructuredList, error) {
	return listOf("ConfigFinding", found, func(f *decision.Finding) string { return cmp.Or(f.Where(), string(f.Code)) }, struct{}{})
}

// plainFindings are the findings as the gate compares them.
func plainFindings(found []decision.Finding) []diagnosticsv1alpha1.Finding {
	out := make([]diagnosticsv1alpha1.Finding, 0, len(found))
	for i := range found {
		out = append(out, diagnosticsv1alpha1.Finding{Code: string(found[i].Code), Severity: found[i].Severity, Message: found[i].Message})
	}
	return out
}
