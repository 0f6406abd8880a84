// Command koord-sandbox is the sandbox's supervisor and, under the names of its components, the control plane it runs.
// koordctl starts it; people do not.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/controlplane"
	"koordinator.sh/koord/sandbox/koordlets"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/sandbox/supervisor"
)

func main() {
	programs := controlplane.Programs()
	programs["supervise"] = supervise
	programs[component.Koordlets] = koordlets.Main
	if len(os.Args) < 2 || programs[os.Args[1]] == nil {
		names := strings.Join(slices.Sorted(maps.Keys(programs)), " | ")
		fmt.Fprintf(os.Stderr, "usage: koord-sandbox {%s} ...\nThis program is started by: koordctl sandbox up\n", names)
		os.Exit(2)
	}
	os.Exit(programs[os.Args[1]](os.Args[2:]))
}

// supervise runs the supervisor for the sandbox in a directory until it is asked to stop.
func supervise(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: koord-sandbox supervise DIRECTORY")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := supervisor.Run(ctx, state.At(args[0])); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}
