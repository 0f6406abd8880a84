package sandbox

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/messages"
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
	rows := [][]string{c.headings("NAME", "PHASE", "NODES", "SCENARIO", "CONTEXT")}
	for _, s := range list.Items {
		rows = append(rows, []string{s.Spec.Name, string(s.Phase), strconv.Itoa(s.Spec.Nodes), orNone(s.Spec.Scenario), s.Context})
	}
	_, err = fmt.Fprintln(c.Out, strings.Join(messages.Columns(rows, columnGap), "\n"))
	return err
}
