// Package launch starts and stops a sandbox from outside: it finds the programs, detaches the supervisor and talks to
// it. It links none of the programs.
package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/state"
)

// Programs of the sandbox, all in one directory.
const (
	sandboxProgram = "koord-sandbox"
	systemPrograms = "koord-scheduler koord-manager koord-descheduler"
	agentProgram   = "koordlet"
)

// Binaries returns the directory that holds the sandbox's programs: that of the running program, or the one where PATH
// finds koord-sandbox. A KOORD0501 error says which are missing.
func Binaries(spec state.Spec) (string, error) {
	needed := []string{sandboxProgram}
	if !spec.KubernetesOnly {
		needed = append(needed, strings.Fields(systemPrograms)...)
	}
	if !spec.KubernetesOnly && spec.RealNode != "" {
		needed = append(needed, agentProgram)
	}
	var candidates []string
	if self, err := os.Executable(); err == nil {
		if resolved, err := filepath.EvalSymlinks(self); err == nil {
			self = resolved
		}
		candidates = append(candidates, filepath.Dir(self))
	}
	if found, err := exec.LookPath(sandboxProgram); err == nil {
		if dir, err := filepath.Abs(filepath.Dir(found)); err == nil {
			candidates = append(candidates, dir)
		}
	}
	missing := needed
	for _, dir := range candidates {
		lacking := lackingIn(dir, needed)
		if len(lacking) == 0 {
			return dir, nil
		}
		if len(lacking) < len(missing) {
			missing = lacking
		}
	}
	err := fmt.Errorf("find the programs of the sandbox: %s not found in the directory of koordctl or on PATH", strings.Join(missing, ", "))
	return "", finding.Wrap(err, finding.SandboxBinariesMissing, "run: make build")
}

func lackingIn(dir string, needed []string) []string {
	var lacking []string
	for _, name := range needed {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			lacking = append(lacking, name)
		}
	}
	return lacking
}
