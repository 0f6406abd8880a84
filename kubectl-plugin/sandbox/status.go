package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/messages"
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
	return c.writeStatus(status, time.Now())
}

// columnGap is between the columns of a table.
const columnGap = 3

// writeStatus prints a sandbox for people.
func (c *console) writeStatus(status *control.Status, now time.Time) error {
	rows := [][]string{{"Sandbox:", status.Spec.Name}, {"Phase:", string(status.Phase)}}
	if status.Message != "" {
		rows = append(rows, []string{"Message:", c.say(status.Message) + " [" + status.Code + "]"})
	}
	if status.Hint != "" {
		rows = append(rows, []string{"Hint:", c.say(status.Hint)})
	}
	rows = append(rows, []string{"Nodes:", strconv.Itoa(status.Spec.Nodes)}, []string{"Scenario:", orNone(status.Spec.Scenario)})
	if status.Spec.RealNode != "" {
		rows = append(rows, []string{"Real node:", status.Spec.RealNode})
	}
	rows = append(rows, []string{"Context:", status.Context}, []string{"Server:", orNone(status.Server)}, []string{"Directory:", status.Directory})
	for _, row := range rows {
		row[0] = c.say(row[0])
	}
	lines := messages.Columns(rows, columnGap)
	if len(status.Components) > 0 {
		lines = append(append(lines, ""), c.components(status, now)...)
	}
	_, err := fmt.Fprintln(c.Out, strings.Join(lines, "\n"))
	return err
}

// components are the lines of a table of the processes, with the memory of all.
func (c *console) components(status *control.Status, now time.Time) []string {
	rows := [][]string{c.headings("COMPONENT", "PHASE", "PID", "RESTARTS", "MEMORY", "AGE", "LAST-EXIT")}
	var memory int64
	for _, one := range status.Components {
		memory += one.MemoryBytes
		rows = append(rows, []string{one.Name, string(one.Phase), pid(one.PID), strconv.Itoa(one.Restarts),
			mebibytes(one.MemoryBytes), age(one.StartedAt, now), orNone(one.LastExit)})
	}
	return messages.Columns(append(rows, []string{c.say("total"), "", "", "", mebibytes(memory)}), columnGap)
}

// headings of a table.
func (c *console) headings(english ...string) []string {
	for i, heading := range english {
		english[i] = c.say(heading)
	}
	return english
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
