package main

import (
	"context"
	"fmt"
)

// plan measures how long it takes a person to see what a change would do.
func (f *fleet) plan(ctx context.Context) ([]figure, error) {
	const differs = 1 // the exit code of a change that would do something
	runs, err := f.commands(ctx, differs, "config", "plan", "colocation-config.cpuReclaimThresholdPercent=80")
	if err != nil {
		return nil, err
	}
	return runs.figures(fmt.Sprintf("koordctl config plan, %d nodes with %d pods each", f.chosen.nodes, f.chosen.podsPerNode), 3), nil
}
