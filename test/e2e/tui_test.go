//go:build e2e

package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// startTUI starts the terminal interface in a terminal and goes to the nodes. The shell prints the exit code after it.
func startTUI(t *testing.T, width, height int, environ ...string) *terminal {
	t.Helper()
	term := open(t, width, height, environ...)
	term.types(`"$koordctl" tui; echo "exit code $?"`)
	term.sees("<dashboard>")
	term.types(":nodes")
	term.sees("nodes[14]", "sim-0001")
	return term
}

var sizes = map[string]struct{ width, height int }{
	"80x24":  {80, 24},
	"120x40": {120, 40},
}

func TestNodeTableShowsTheNodesInTrouble(t *testing.T) {
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			term := startTUI(t, size.width, size.height)
			term.waits(func(screen string) error {
				for node, state := range map[string]string{"sim-0001": "Normal", "sim-0007": "Hot", "sim-0013": "Expired"} {
					if got := line(screen, node); !strings.Contains(got, state) {
						return fmt.Errorf("node %s is not %s: %q", node, state, got)
					}
				}
				return nil
			})
			fits(t, term.screen(false), size.width, size.height)
		})
	}
}

// fits checks that the screen has the terminal's size and no line was cut into two.
func fits(t *testing.T, screen string, width, height int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	if len(lines) != height {
		t.Errorf("screen has %d lines, want %d", len(lines), height)
	}
	for i, l := range lines {
		if n := len([]rune(l)); n > width {
			t.Errorf("line %d is %d cells wide, want at most %d: %q", i+1, n, width, l)
		}
	}
}

func TestDrillingIntoANode(t *testing.T) {
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			term := startTUI(t, size.width, size.height)
			selected := func(node string) {
				t.Helper()
				term.waits(func(screen string) error {
					if !strings.Contains(screen, "▌"+node) {
						return fmt.Errorf("%s is not selected", node)
					}
					return nil
				})
			}
			selected("sim-0001")
			term.presses("j", "j")
			selected("sim-0003")
			term.presses("k")
			selected("sim-0002")
			term.presses("Enter")
			term.sees("node sim-0002", "[batch-cpu]", "capacity", "safety margin", "system", "pods used", "result")
			for range 4 {
				term.presses("Tab")
			}
			term.sees("[pods", "NAMESPACE", "shop", "LS")
			term.presses("a")
			term.sees("[agent]", "Features", "BECPUSuppress")
			term.presses("Escape")
			term.sees("nodes[14]", "▌sim-0002")
		})
	}
}

func TestExplainingAPodByCommand(t *testing.T) {
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			term := startTUI(t, size.width, size.height)
			term.types(":explain analytics/monthly-report")
			term.sees("pod analytics/monthly-report", "Unschedulable", "needs 40 batch-cpu", "NodeResourcesFit")
			if size.height < 40 {
				term.presses("G")
			}
			term.sees("smallest fix", "verified", "reduce the pod's batch-cpu request from 40 to")
		})
	}
}

func TestChartOfTheCluster(t *testing.T) {
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			term := startTUI(t, size.width, size.height)
			term.types(":chart")
			term.sees("chart(cluster)", "prod used", "batch free", "now", "┤", "█")
			term.sees("recorded by the agents of 13 of 14 nodes", "─ recorded ─", "-30m")
			term.presses("j")
			term.sees("chart(sim-0001)", "recorded by simulated-koordlet", "─ recorded ─")
		})
	}
}

// TestAPendingPodSaysWhy in the list of pods, and in full below it, on the smallest terminal.
func TestAPendingPodSaysWhy(t *testing.T) {
	term := startTUI(t, 80, 24)
	term.types(":pods analytics")
	term.sees("monthly-report", "Pending   14 Insufficient batch-cpu")
	term.types("/monthly")
	term.sees("<pods>  14 Insufficient batch-cpu")
	term.presses("Enter")
	term.sees("NODES   SOLE  REASON", "needs 40 batch-cpu, ", "NodeResourcesFit KOORD1901")
}

func TestTheNamespaceOfTheFlagIsShownFirst(t *testing.T) {
	term := open(t, 80, 24)
	term.types(`"$koordctl" tui -n shop; echo "exit code $?"`)
	term.sees("pods(shop)", "Running")
}

func TestFilterOfTheNodeTable(t *testing.T) {
	term := startTUI(t, 80, 24)
	term.types("/0007")
	term.sees("sim-0007", "/0007")
	term.seesNot("sim-0001", "sim-0013")
	term.presses("Escape")
	term.sees("sim-0001", "sim-0013")
	term.types("/nothing-like-this")
	term.sees("none of 14 matches")
}

func TestHelpListsKeysAndCommands(t *testing.T) {
	term := startTUI(t, 120, 40)
	term.presses("?")
	term.sees("─ help", "refresh now", ":explain NAMESPACE/POD")
	term.presses("G")
	term.sees("batch free")
	term.presses("?")
	term.sees("nodes[14]", "▌sim-0001")
}

func TestTooSmallTerminalAndBack(t *testing.T) {
	term := startTUI(t, 120, 40)
	term.resize(60, 15)
	term.sees("too small", "80", "24")
	term.seesNot("sim-0001")
	term.resize(80, 24)
	fits(t, term.sees("nodes[14]", "▌sim-0001"), 80, 24)
}

// TestTheDashboardIsFirst, with what is wrong and what happens next, and leads to the lists.
func TestTheDashboardIsFirst(t *testing.T) {
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			term := open(t, size.width, size.height)
			term.types(`"$koordctl" tui; echo "exit code $?"`)
			term.sees("dashboard[", "prod used", "batch free", "─ recorded ─", "nodes", "▲ Hot", "sim-0007", "pods", "Insufficient batch-cpu")
			fits(t, term.screen(false), size.width, size.height)
			term.presses("Enter")
			term.sees("of 14] only problems", "sim-0007", "<dashboard> <nodes>")
			term.presses("Escape")
			term.sees("dashboard[")
			term.presses("x")
			term.sees("[batch-cpu]", "<dashboard> <sim-00")
		})
	}
}

func TestQuittingRestoresTheTerminal(t *testing.T) {
	for name, keys := range map[string][]string{"q": {"q"}, "ctrl-c": {"C-c"}, "q from a view below": {"Enter", "q", "q"}} {
		t.Run(name, func(t *testing.T) {
			term := open(t, 80, 24)
			term.types("echo before the interface")
			term.types(`"$koordctl" tui; echo "exit code $?"`)
			term.sees("dashboard[", "sim-00")
			for _, key := range keys {
				term.presses(key)
			}
			term.sees("before the interface", "exit code 0", "ready$ ")
			if got := strings.TrimSpace(term.tmux("display-message", "-p", "-t", term.pane(),
				"#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag}")); got != "0 1 0 0" {
				t.Errorf("alternate screen, cursor, mouse, cursor keys = %s, want 0 1 0 0", got)
			}
			term.types("echo typed:$((40+2))")
			term.sees("typed:42")
		})
	}
}

// sgr finds the parameters of the sequences that set colours and other attributes.
var sgr = regexp.MustCompile(`\x1b\[([0-9;:]*)m`)

// colours counts the parameters of a styled screen that choose a colour; 39 and 49, which undo one, are none.
func colours(styled string) int {
	n := 0
	for _, match := range sgr.FindAllStringSubmatch(styled, -1) {
		for _, param := range strings.FieldsFunc(match[1], func(r rune) bool { return r == ';' || r == ':' }) {
			p, err := strconv.Atoi(param)
			if err == nil && (p >= 30 && p <= 38 || p >= 40 && p <= 48 || p >= 90 && p <= 107) {
				n++
			}
		}
	}
	return n
}

func TestColourAndNoColour(t *testing.T) {
	tests := map[string]struct {
		environ    []string
		wantColour bool
	}{
		"a terminal has colour": {nil, true},
		"NO_COLOR":              {[]string{"NO_COLOR=1"}, false},
		"an empty NO_COLOR":     {[]string{"NO_COLOR="}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			term := startTUI(t, 120, 40, test.environ...)
			term.waits(func(screen string) error {
				if !strings.Contains(line(screen, "sim-0007"), "Hot") {
					return fmt.Errorf("sim-0007 is not Hot")
				}
				return nil
			})
			styled := term.screen(true)
			if n := colours(styled); (n > 0) != test.wantColour {
				t.Errorf("%d colours, want colours %t:\n%q", n, test.wantColour, styled)
			}
		})
	}
}

func TestASCII(t *testing.T) {
	term := open(t, 80, 24)
	term.types(`"$koordctl" tui --ascii; echo "exit code $?"`)
	term.sees("<dashboard>")
	term.types(":nodes")
	screen := term.sees("nodes[14]", "sim-0001", "Hot")
	for i, r := range screen {
		if r > 127 {
			t.Fatalf("character %q at byte %d is not ASCII:\n%s", r, i, screen)
		}
	}
}
