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

// kubernetesPrograms are what a directory of programs of Kubernetes must have.
var kubernetesPrograms = []string{"kube-apiserver", "kube-controller-manager"}

// CheckKubernetes returns a KOORD0501 error when the spec names a directory of programs of Kubernetes that lacks one.
func CheckKubernetes(spec state.Spec) error {
	if spec.KubernetesBinaries == "" {
		return nil
	}
	missing := lackingIn(spec.KubernetesBinaries, kubernetesPrograms)
	if len(missing) == 0 {
		return nil
	}
	err := fmt.Errorf("find the programs of Kubernetes: %s not found in %q", strings.Join(missing, ", "), spec.KubernetesBinaries)
	return finding.Wrap(err, finding.SandboxBinariesMissing, "set --kubernetes-bin to the directory of the server programs of a release of Kubernetes")
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
