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
		return []Problem{{What: "a real node requires Linux, this is " + m.OS, Hint: "omit --real-node"}}
	}
	var problems []Problem
	add := func(present bool, what, hint string) {
		if !present {
			problems = append(problems, Problem{What: what, Hint: hint})
		}
	}
	add(m.Root, "containers require root", "run the command as root, or omit --real-node")
	add(m.Runc != "", "runc is not installed", "apt-get install runc")
	add(len(m.MissingPrograms) == 0,
		fmt.Sprintf("%s not found in %s", strings.Join(m.MissingPrograms, ", "), n.Programs), "make real-node")
	add(len(m.StaleImages) == 0,
		fmt.Sprintf("the images of %s were built from other programs", strings.Join(m.StaleImages, ", ")), "make real-node")
	add(len(m.MissingControllers) == 0,
		fmt.Sprintf("cgroup controller %s is not available at /sys/fs/cgroup", strings.Join(m.MissingControllers, ", ")),
		"mount the cgroup hierarchies, or enable the controllers on the kernel command line")
	add(!m.BridgeTaken,
		fmt.Sprintf("another sandbox with the name %q has a real node: bridge %s exists", n.Sandbox, n.Bridge()),
		fmt.Sprintf("stop that sandbox, choose another --name, or, if it no longer exists, run: ip link delete %s", n.Bridge()))
	add(m.PathExcess == 0,
		fmt.Sprintf("the path %s is %d characters too long for sockets", n.Dir, m.PathExcess),
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
	err := fmt.Errorf("prepare this machine as a node: %s", strings.Join(whats, "; "))
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
