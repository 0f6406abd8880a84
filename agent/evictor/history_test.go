package evictor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// life of an agent with a history: some readings, five seconds apart.
func (n *node) life(t *testing.T, history Store, readings int) {
	options := n.options
	options.History = history
	n.Evictor = New(options)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { n.Run(ctx) })
	for range readings {
		n.decide()
		time.Sleep(5 * time.Second)
		n.pods = slices.DeleteFunc(n.pods, func(pod *state.Pod) bool { return n.isLeaving(pod.Object.UID) })
	}
	cancel()
	running.Wait()
}

// TestTheBudgetOutlivesTheAgent that is started again and again.
func TestTheBudgetOutlivesTheAgent(t *testing.T) {
	history := checkpoint.File{Path: filepath.Join(t.TempDir(), "evictions.json")}
	synctest.Test(t, func(t *testing.T) {
		n := newNode()
		n.used = 99 * gib
		for i := range 100 {
			n.add(fmt.Sprintf("pod-%03d", i), 5000, gib/1000)
		}
		for range 10 {
			n.life(t, history, 3)
		}
		if most := eviction.DefaultBudget().PerWindow; len(n.evicted) != most {
			t.Errorf("%d pods were evicted within 150 s, want %d", len(n.evicted), most)
		}
		time.Sleep(eviction.DefaultBudget().Window)
		before := len(n.evicted)
		if n.life(t, history, 1); len(n.evicted) == before {
			t.Error("nobody is evicted when the window is over")
		}
	})
}

// TestAHistoryThatCannotBeReadOrKeptStopsNothing but its being kept.
func TestAHistoryThatCannotBeReadOrKeptStopsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evictions.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, history := range map[string]checkpoint.File{"damaged": {Path: path}, "no directory": {Path: path + "/missing/x"}} {
		synctest.Test(t, func(t *testing.T) {
			n := newNode()
			n.used = 84 * gib
			n.add("large", 5000, 10*gib)
			if n.life(t, history, 1); len(n.evicted) != 1 {
				t.Errorf("%s: %d pods were evicted, want one", name, len(n.evicted))
			}
		})
	}
}
