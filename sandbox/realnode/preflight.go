package realnode

import (
	"fmt"
	"os"
	"strings"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/state"
)

// Problem is something that keeps a machine from being a node.
type Problem struct {
	// What is missing.
	What string
	// Hint is the next thing to do about it.
	Hint string
}

// Problems returns everything that keeps the machine from being the node, in the order to solve it; none when it can be.
func (m Machine) Problems(n Node) []Problem {
	if m.OS != "linux" {
		return []Problem{{What: "a real node needs Linux, and this is " + m.OS, Hint: "leave out --real-node"}}
	}
	var problems []Problem
	add := func(present bool, what, hint string) {
		if !present {
			problems = append(problems, Problem{What: what, Hint: hint})
		}
	}
	add(m.Root, "containers need root", "run the same command as root, or leave out --real-node")
	add(m.Runc != "", "runc is not installed", "apt-get install runc")
	add(len(m.MissingPrograms) == 0,
		fmt.Sprintf("%s not in %s", strings.Join(m.MissingPrograms, ", "), n.Programs), "make real-node")
	add(len(m.StaleImages) == 0,
		fmt.Sprintf("the images of %s are those of other programs", strings.Join(m.StaleImages, ", ")), "make real-node")
	add(len(m.MissingControllers) == 0,
		fmt.Sprintf("the kernel offers no cgroup controller %s at /sys/fs/cgroup", strings.Join(m.MissingControllers, ", ")),
		"mount the cgroup hierarchies, or switch the controllers on on the kernel's command line")
	add(!m.BridgeTaken,
		fmt.Sprintf("another sandbox called %q has a real node: its bridge %s exists", n.Sandbox, n.Bridge()),
		fmt.Sprintf("take that one down, choose another --name, or, where it is gone: ip link delete %s", n.Bridge()))
	add(m.PathExcess == 0,
		fmt.Sprintf("the directory %s is %d characters too long for sockets", n.Dir, m.PathExcess),
		"choose a shorter --name, or set KOORD_STATE_HOME to a shorter path")
	return problems
}

// Check returns all problems as one KOORD0508 error, whose hint is what to do one after the other; nil when there is none.
func (m Machine) Check(n Node) error {
	problems := m.Problems(n)
	if len(problems) == 0 {
		return nil
	}
	var whats, hints []string
	for _, p := range problems {
		whats, hints = append(whats, p.What), append(hints, p.Hint)
	}
	err := fmt.Errorf("make this machine a node: %s", strings.Join(whats, "; "))
	return finding.Wrap(err, finding.SandboxRealNode, strings.Join(hints, "; "))
}

// CheckStart returns what keeps a sandbox's real node from being started, as Check does. The bridge that an earlier run of the
// same sandbox has left is cleaned up with the rest when it starts.
func (h Host) CheckStart(dir state.Dir, spec state.Spec) error {
	n := Of(dir, spec)
	m := h.Look(n)
	if _, err := os.Stat(n.Dir); err == nil {
		m.BridgeTaken = false
	}
	return m.Check(n)
}
