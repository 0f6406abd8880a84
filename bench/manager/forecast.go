package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// forecast measures how long it takes a person to see how far all nodes are from evicting, and what every node offers. No node has an
// agent here: koord-manager answers from the objects.
func (f *fleet) forecast(ctx context.Context) ([]figure, error) {
	cluster := fmt.Sprintf("%d nodes with %d pods each", f.chosen.nodes, f.chosen.podsPerNode)
	var figures []figure
	for _, command := range []struct {
		args []string
		// must is the time that it may take, in seconds; 0 for any.
		must float64
		// objects is true when it prints a list of one object for each node.
		objects bool
	}{
		{args: []string{"forecast", "evictions"}, must: 3},
		{args: []string{"forecast", "evictions", "-o", "json"}, objects: true},
		{args: []string{"top", "nodes"}},
		{args: []string{"top", "nodes", "-o", "json"}, objects: true},
	} {
		runs, err := f.commands(ctx, 0, command.args...)
		if err != nil {
			return figures, err
		}
		name := strings.Join(append([]string{"koordctl"}, command.args...), " ")
		figures = append(figures, runs.figures(name+", "+cluster, command.must)...)
		if !command.objects {
			continue
		}
		if err := countItems(runs.printed, f.chosen.nodes); err != nil {
			return figures, fmt.Errorf("%s: %w", name, err)
		}
		figures = append(figures, measurement("the same, printed for each node", float64(len(runs.printed))/float64(f.chosen.nodes)/1000, "KB", ""))
	}
	return figures, nil
}

// countItems returns an error for anything but a list of so many objects.
func countItems(printed []byte, want int) error {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(printed, &list); err != nil {
		return fmt.Errorf("read what was printed: %w", err)
	}
	if len(list.Items) != want {
		return fmt.Errorf("%d objects were printed, want %d", len(list.Items), want)
	}
	return nil
}
