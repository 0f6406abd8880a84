// Demo shows the terminal workbench on a made-up cluster: go run ./tui/internal/demo [-nodes 5000] [-ascii].
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"koordinator.sh/koord/tui"
	"koordinator.sh/koord/tui/internal/fixture"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	nodes := flag.Int("nodes", 30, "Number of nodes")
	ascii := flag.Bool("ascii", false, "Use ASCII characters only")
	color := flag.String("color", "auto", "Use colours: auto, always or never")
	refresh := flag.Duration("refresh", time.Second, "How often to ask")
	delay := flag.Duration("delay", 0, "How long answers take")
	view := flag.String("view", "", "Command to start with")
	flag.Parse()
	cluster := &fixture.Cluster{Size: *nodes, Now: time.Now, Epoch: time.Now()}
	return tui.Run(context.Background(), tui.Options{
		Source: &fixture.Slow{Source: cluster, Delay: *delay},
		In:     os.Stdin, Out: os.Stdout, Environ: os.Environ(), ASCII: *ascii, Color: *color,
		RefreshInterval: *refresh, StartView: *view, ReadOnly: true, Version: "demo",
	})
}
