package install

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/kubectl-plugin/dryrun"
	"koordinator.sh/koord/kubectl-plugin/printer"
)

const installLong = `Install the system, or upgrade it to the chart inside this program: resource definitions, rights, configuration,
the diagnostics API, and the workloads. Running it again is safe. The result is an ordinary Helm release.

Values of the previous installation are kept unless they are set again or --reset-values is given, and so are edits of
slo-controller-config, koord-scheduler-config and koord-descheduler-config made with kubectl.`

const installExamples = `  # Install or upgrade
  %[1]s install

  # Show what would change
  %[1]s install --set colocation.enable=false --dry-run

  # List what an empty cluster would get, without contacting a cluster
  %[1]s install --dry-run=client -o name

  # Print manifests for GitOps, without a cluster
  %[1]s install -f values.yaml --export > koordinator.yaml`

// InstallOptions are the flags of install.
type InstallOptions struct {
	mutation
	values         valueFlags
	export         bool
	resetValues    bool
	forceConflicts bool
	takeOwnership  bool

	merged map[string]any
}

// NewCmdInstall returns the command install; look is as in NewCommands.
func NewCmdInstall(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams, look func() printer.Options) *cobra.Command {
	o := &InstallOptions{mutation: mutation{IOStreams: streams, look: look}}
	cmd := &cobra.Command{
		Use:     "install",
		Short:   "Install or upgrade the system in the cluster",
		Long:    installLong,
		Example: installExamples,
		Args:    cobra.NoArgs,
		RunE:    runner(o, getter),
	}
	o.mutation.addFlags(cmd)
	o.values.addFlags(cmd)
	cmd.Flags().BoolVar(&o.export, "export", false, "Print the manifests instead of installing them; needs no cluster")
	cmd.Flags().BoolVar(&o.resetValues, "reset-values", false, "Discard the values of the previous installation")
	cmd.Flags().BoolVar(&o.forceConflicts, "force-conflicts", false, "Take over fields that another field manager has set")
	cmd.Flags().BoolVar(&o.takeOwnership, "take-ownership", false, "Adopt existing objects that belong to no release or to another release")
	return cmd
}

// Complete reads the values and the namespace.
func (o *InstallOptions) Complete(getter genericclioptions.RESTClientGetter) error {
	var err error
	if o.merged, err = o.values.merge(o.In); err != nil {
		return err
	}
	return o.target.Complete(getter)
}

// Validate checks what can be checked without a cluster.
func (o *InstallOptions) Validate() error {
	if o.export && (o.dryRun.On() || o.wait || !o.output.text()) {
		return usageError{errors.New("--export cannot be combined with --dry-run, --wait or --output")}
	}
	return o.mutation.Validate()
}

// Run installs, or exports.
func (o *InstallOptions) Run(ctx context.Context, getter genericclioptions.RESTClientGetter) error {
	options := o.mutation.options()
	options.Values = o.merged
	options.ResetValues = o.resetValues
	options.ForceConflicts = o.forceConflicts
	options.TakeOwnership = o.takeOwnership
	if o.export {
		manifests, err := release.Render(ctx, options)
		if err != nil {
			return err
		}
		_, err = io.WriteString(o.Out, manifests)
		return err
	}
	if o.dryRun == dryrun.Client {
		p, err := planInstall(ctx, options)
		if err != nil {
			return err
		}
		return o.reportPlan(p, fmt.Sprintf("release/%s installed", p.result.Release.Name))
	}
	if o.output.text() {
		o.tell("Installing release %s in namespace %s ...", o.releaseName, o.namespace)
	}
	result, err := release.Install(ctx, getter, options)
	if err != nil {
		return err
	}
	return o.report(result, installed(result))
}

// installed says what happened to the release.
func installed(result *release.Result) string {
	if result.Upgrade {
		return fmt.Sprintf("release/%s upgraded (revision %d)", result.Release.Name, result.Release.Revision)
	}
	return fmt.Sprintf("release/%s installed (revision %d)", result.Release.Name, result.Release.Revision)
}
