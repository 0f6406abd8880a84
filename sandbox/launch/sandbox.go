package launch

import (
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/state"
)

// Sandbox is a sandbox as seen from outside its supervisor.
type Sandbox struct {
	// Name of the sandbox.
	Name string
	// Dir holds its files.
	Dir state.Dir
	// Program is what hints call the workbench by: koordctl, or kubectl koord.
	Program string
}

// Context is the name of the sandbox's kubeconfig context.
func (s Sandbox) Context() string { return pki.ContextName(s.Name) }

// Command is the command line of a subcommand of `sandbox` for this very sandbox.
func (s Sandbox) Command(words string) string {
	line := s.Program + " sandbox " + words
	if s.Name != state.DefaultName {
		line += " --name " + s.Name
	}
	return line
}
