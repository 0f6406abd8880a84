package sandbox

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/launch"
	"koordinator.sh/koord/sandbox/state"
)

func newListCommand(c console) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List your sandboxes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			if err := output.validate(); err != nil {
				return err
			}
			return runList(cmd.Context(), c, output, cmd.Root().CommandPath())
		},
	}
	output.addFlags(cmd)
	return cmd
}

func runList(ctx context.Context, c console, output outputFlag, program string) error {
	home, err := state.Home(os.Getenv)
	if err != nil {
		return err
	}
	names, err := state.List(home)
	if err != nil {
		return err
	}
	list := control.StatusList{APIVersion: control.StatusAPIVersion, Kind: control.StatusListKind, Items: []control.Status{}}
	for _, name := range names {
		status, err := launch.Sandbox{Name: name, Dir: state.Open(home, name), Program: program}.Look(ctx)
		if err != nil {
			c.tell("incomplete: sandbox %q: %v", name, err)
			continue
		}
		list.Items = append(list.Items, *status)
	}
	if output.structured() {
		return output.print(c.Out, list)
	}
	if len(list.Items) == 0 {
		c.tell("No sandboxes found. Start one with: %s sandbox up", program)
		return nil
	}
	table := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAME\tPHASE\tNODES\tSCENARIO\tCONTEXT")
	for _, s := range list.Items {
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", s.Spec.Name, s.Phase, s.Spec.Nodes, orNone(s.Spec.Scenario), s.Context)
	}
	return table.Flush()
}
