package kubectlplugin

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/proposal"
)

const configGetLong = `Print the settings in force and the layer each comes from; for a single value, print the value alone.

Without a key path, print what was set in all keys, with --all the built-in defaults too. With --node, print what is in force
on that node, which may come from the defaults, the cluster, a node strategy, or an annotation or label of the node.`

const configGetExamples = `  # Print one value
  %[1]s config get colocation-config.cpuReclaimThresholdPercent

  # Print what is in force on a node
  %[1]s config get colocation-config --node worker-1

  # Print everything that was set
  %[1]s config get`

type configGetOptions struct {
	output
	node string
	all  bool
}

func newConfigGetCommand(s *session) *cobra.Command {
	o := &configGetOptions{}
	cmd := &cobra.Command{
		Use:               "get [KEY[.PATH]]",
		Short:             "Print the settings in force and where they come from",
		Long:              configGetLong,
		Example:           fmt.Sprintf(configGetExamples, s.Name),
		Args:              atMostOne("key path"),
		ValidArgsFunction: completeKeyPaths(false, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s, args)
		},
	}
	o.addFlags(cmd, true)
	cmd.Flags().Var((*nodeFlag)(&o.node), "node", "Node whose settings to print")
	cmd.Flags().BoolVar(&o.all, "all", false, "Include built-in defaults")
	must(cmd.RegisterFlagCompletionFunc("node", completeNames(s, source.KindNode, 1)))
	return cmd
}

func (o *configGetOptions) run(ctx context.Context, s *session, args []string) error {
	paths := make([]decision.KeyPath, 0, len(configuration.Keys()))
	for _, key := range configuration.Keys() {
		paths = append(paths, decision.KeyPath{Key: key})
	}
	if len(args) == 1 {
		path, err := decision.ParseKeyPath(args[0])
		if err != nil {
			return &usageError{err}
		}
		paths = []decision.KeyPath{path}
	}
	configurator, err := s.configurator()
	if err != nil {
		return err
	}
	current, err := s.configuration(ctx, configurator)
	if err != nil {
		return err
	}
	warnRejected(s, current)
	settings, err := o.settings(ctx, configurator, current, paths)
	if err != nil {
		return err
	}
	one := len(args) == 1 && len(settings) == 1 && settings[0].Path == paths[0].InStrategy()
	if !one && !o.all && len(args) == 0 {
		settings = withoutDefaults(settings)
	}
	list, err := listOf("ConfigSetting", settings, func(s *decision.SettingInForce) string { return decision.JoinKey(s.Key, s.Path) }, struct{}{})
	if err != nil {
		return err
	}
	return o.print(s, list, "setting", func(w io.Writer, options printer.Options) error {
		if one && !options.Wide {
			_, err := fmt.Fprintln(w, options.Style.Clean(settings[0].Value))
			return err
		}
		return printer.ConfigSettingsInForce(w, settings, options)
	})
}

// warnRejected warns of keys whose text is not what is in force.
func warnRejected(s *session, current *source.Configuration) {
	if !current.Exists {
		warnMissing(s, current)
		return
	}
	_, problems := configmerge.Parse(current.Data)
	for _, problem := range problems {
		if problem.Rejects() {
			s.tell("Warning: %s; its last valid text is in force", problem)
		}
	}
}

// warnMissing reports that there is no ConfigMap, and what is in force in its place.
func warnMissing(s *session, current *source.Configuration) {
	for _, problem := range proposal.InForceNow(current).Problems() {
		s.tell("Warning: %s", problem)
	}
}

func (o *configGetOptions) settings(ctx context.Context, configurator source.Configurator, current *source.Configuration, paths []decision.KeyPath) ([]decision.SettingInForce, error) {
	config := proposal.InForceNow(current)
	var node *corev1.Node
	if o.node != "" {
		var err error
		if node, err = nodeNamed(ctx, configurator, o.node); err != nil {
			return nil, err
		}
	}
	var out []decision.SettingInForce
	for _, path := range paths {
		if node != nil {
			out = append(out, decision.ReadNode(path, node.Name, settingsOn(config, path.Key, node))...)
			continue
		}
		found, err := decision.Read(config, path)
		if err != nil {
			return nil, &usageError{err}
		}
		out = append(out, found...)
	}
	return out, nil
}

// settingsOn merges what holds on a node; of co-location, with the node's own annotation and labels.
func settingsOn(config configmerge.Config, key string, node *corev1.Node) []diagnosticsv1alpha1.Setting {
	if key == configuration.ColocationConfigKey {
		return config.Colocation(node).Settings
	}
	index, _ := config.GroupOf(key, node)
	return config.Groups(key)[index].Settings
}

func nodeNamed(ctx context.Context, configurator source.Configurator, name string) (*corev1.Node, error) {
	nodes, err := configurator.ConfigurationNodes(ctx)
	if err != nil {
		return nil, err
	}
	for i := range nodes {
		if nodes[i].Name == name {
			return &nodes[i], nil
		}
	}
	return nil, finding.Wrap(fmt.Errorf("node %q not found", name), finding.NotFound, "koordctl top nodes")
}

func withoutDefaults(settings []decision.SettingInForce) []decision.SettingInForce {
	out := settings[:0]
	for _, setting := range settings {
		if !strings.EqualFold(setting.Layer, configmerge.LayerDefault) {
			out = append(out, setting)
		}
	}
	return out
}
