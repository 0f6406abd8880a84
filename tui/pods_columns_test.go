package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/fixture"
	"koordinator.sh/koord/tui/internal/style"
)

// TestTheSmallestTerminalKeepsWhatInforms: names as clouds and controllers make them stay whole, and bars give way to them.
func TestTheSmallestTerminalKeepsWhatInforms(t *testing.T) {
	const node, pod = "ip-10-0-132-17.eu-central-1", "recommendation-service-7d9f8b6c5d-x2x7q"
	clock := newRig(t, 1).clock
	nodes := newNodeTable(clock.Now)
	cluster := &fixture.Cluster{Size: 5, Now: clock.Now, Epoch: fixture.Epoch}
	list, err := cluster.Nodes(t.Context(), source.NodeQuery{})
	if err != nil {
		t.Fatal(err)
	}
	list.Items[4].Name = node
	nodes.SetRows(nodeRows(list))
	pods := newPodTable(true)
	pods.SetRows([]podRow{makePod("shop", pod).class("LS", "koord-prod").
		pending("0/30 nodes are available: 1 node(s) were unschedulable, 29 Insufficient kubernetes.io/batch-memory.").row()})
	pods.Hide(namespaceColumn, true)
	for name, tc := range map[string]struct {
		lines []string
		want  []string
	}{
		"nodes": {nodes.Draw(minWidth, 10, false, style.New(plainLook)), []string{"NAME", node, "Hot", "CPU%", "MEM%", "BATCH-CPU", "AGE"}},
		"pods":  {pods.Draw(minWidth, 10, false, style.New(plainLook)), []string{"NAME", pod, "Pending", "29 Insufficient batch-memor"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := ansi.Strip(strings.Join(tc.lines, "\n"))
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not whole:\n%s", want, text)
				}
			}
		})
	}
}
