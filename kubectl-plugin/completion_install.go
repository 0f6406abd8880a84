package kubectlplugin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// completionScript is what kubectl runs to complete the arguments of a plugin.
const completionScript = "#!/usr/bin/env sh\nexec kubectl koord __complete \"$@\"\n"

const completionInstallLong = `Write kubectl_complete-koord, the program kubectl (1.26 and later) runs to complete "kubectl koord". It must be in a
directory of PATH; without --dir that is the directory of this program.`

// addCompletionInstall puts `install` below cobra's completion command.
func addCompletionInstall(root *cobra.Command, s *session) {
	root.InitDefaultCompletionCmd("completion")
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.AddCommand(newCompletionInstallCommand(s))
			return
		}
	}
}

func newCompletionInstallCommand(s *session) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "install",
		Short:   "Let kubectl complete \"kubectl koord\"",
		Long:    completionInstallLong,
		Example: fmt.Sprintf("  # Install beside this program\n  %[1]s completion install\n\n  # Install into another directory of PATH\n  %[1]s completion install --dir ~/.local/bin", s.Name),
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return installCompletion(s, dir) },
	}
	cmd.Flags().StringVar(&dir, "dir", "", "Directory to write to (default that of this program)")
	must(cmd.MarkFlagDirname("dir"))
	return cmd
}

func installCompletion(s *session, dir string) error {
	if dir == "" {
		program, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find the directory of this program: %w", err)
		}
		dir = filepath.Dir(program)
	}
	path := filepath.Join(dir, "kubectl_complete-koord")
	if err := os.WriteFile(path, []byte(completionScript), 0o755); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	// An existing file keeps its mode, and kubectl runs only what is executable.
	if err := os.Chmod(path, 0o755); err != nil {
		return fmt.Errorf("make %q executable: %w", path, err)
	}
	s.report("%s written", path)
	if !onPath(dir, s.Getenv("PATH")) {
		s.tell("%s is not in PATH; kubectl will not find it there", dir)
	}
	return nil
}

func onPath(dir, path string) bool {
	want, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	for _, entry := range filepath.SplitList(path) {
		if got, err := filepath.Abs(entry); err == nil && strings.TrimRight(got, "/") == strings.TrimRight(want, "/") {
			return true
		}
	}
	return false
}
