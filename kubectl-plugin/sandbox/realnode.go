package sandbox

import (
	"fmt"
	"os"

	"koordinator.sh/koord/sandbox/launch"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
)

// thisNode is the name of the node that this machine becomes.
func thisNode() (string, error) {
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("find the machine's name: %w", err)
	}
	return realnode.NodeName(name), nil
}

// checkRealNode says before anything is started what keeps this machine from being a node. What an earlier run left is no
// obstacle: it is cleaned up first.
func checkRealNode(sandbox launch.Sandbox, spec state.Spec) error {
	if spec.RealNode == "" {
		return nil
	}
	return realnode.ThisHost().CheckStart(sandbox.Dir, spec)
}
