package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/sandbox/control"
)

func newStatusCommand(c console) *cobra.Command {
	var t target
	var output outputFlag
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show a sandbox's processes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(t.complete(cmd), output.validate()); err != nil {
				return err
			}
			return runStatus(cmd.Context(), c, t, output)
		},
	}
	t.addFlags(cmd)
	output.addFlags(cmd)
	return cmd
}

func runStatus(ctx context.Context, c console, t target, output outputFlag) error {
	sandbox, err := t.existing()
	if err != nil {
		return err
	}
	status, err := sandbox.Look(ctx)
	if err != nil {
		return err
	}
	if output.structured() {
		return output.print(c.Out, status)
	}
	return writeStatus(c.Out, status, time.Now())
}

// writeStatus prints a sandbox for people.
func writeStatus(w io.Writer, status *control.Status, now time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Sandbox:     %s\nPhase:       %s\n", status.Spec.Name, status.Phase)
	if status.Message != "" {
		fmt.Fprintf(&b, "Message:     %s [%s]\n", status.Message, status.Code)
	}
	if status.Hint != "" {
		fmt.Fprintf(&b, "Hint:        %s\n", status.Hint)
	}
	fmt.Fprintf(&b, "Nodes:       %d\nScenario:    %s\n", status.Spec.Nodes, orNone(status.Spec.Scenario))
	if status.Spec.RealNode != "" {
		fmt.Fprintf(&b, "Real node:   %s\n", status.Spec.RealNode)
	}
	fmt.Fprintf(&b, "Context:     %s\nServer:      %s\nDirectory:   %s\n", status.Context, orNone(status.Server), status.Directory)
	if len(status.Components) > 0 {
		b.WriteByte('\n')
		table := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		fmt.Fprintln(table, "COMPONENT\tPHASE\tPID\tRESTARTS\tMEMORY\tAGE\tLAST-EXIT")
		var memory int64
		for _, c := range status.Components {
			memory += c.MemoryBytes
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", c.Name, c.Phase, pid(c.PID), c.Restarts,
				mebibytes(c.MemoryBytes), age(c.StartedAt, now), orNone(c.LastExit))
		}
		fmt.Fprintf(table, "total\t\t\t\t%s\n", mebibytes(memory))
		if err := table.Flush(); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func orNone(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
}

func pid(number int) string {
	if number == 0 {
		return orNone("")
	}
	return strconv.Itoa(number)
}

func mebibytes(bytes int64) string {
	if bytes == 0 {
		return "<unknown>"
	}
	return fmt.Sprintf("%dMi", bytes>>20)
}

func age(since *time.Time, now time.Time) string {
	if since == nil {
		return "<none>"
	}
	return printer.Age(now, &metav1.Time{Time: *since})
}
