package tutorial

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/launch"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
)

// Open returns a session on a running sandbox with a real node, or says what is missing for a tutorial. Its work directory, which is
// new, and its writers are the caller's to delete and to set.
func Open(ctx context.Context, program, sandbox string, t Tutorial) (*Session, error) {
	home, err := state.Home(os.Getenv)
	if err != nil {
		return nil, err
	}
	at := launch.Sandbox{Name: sandbox, Dir: state.Open(home, sandbox), Program: program}
	up := at.Command("up") + " --real-node --nodes 0"
	status, err := at.Ask(ctx)
	if err != nil || status.Phase != control.Running {
		return nil, finding.Wrap(fmt.Errorf("sandbox %q is not running", sandbox), finding.SandboxNotRunning, up)
	}
	if status.Spec.RealNode == "" {
		return nil, finding.Wrap(fmt.Errorf("sandbox %q has no real node, on which pods really run", sandbox), finding.SandboxRealNode,
			fmt.Sprintf("%s --name real --real-node --nodes 0, then: %s tutorial %s --name real", program+" sandbox up", program, t.Name))
	}
	s := &Session{Node: realnode.Of(at.Dir, status.Spec), Kubeconfig: status.Kubeconfig, Server: status.Server}
	if err := s.findPrograms(t.Programs); err != nil {
		return nil, err
	}
	s.Work, err = os.MkdirTemp("", "koord-tutorial-")
	return s, err
}

// findPrograms finds koordctl, which runs, kubectl on the PATH or beside it, and those of a tutorial.
func (s *Session) findPrograms(needed []string) (err error) {
	if s.KoordctlPath, err = os.Executable(); err != nil {
		return fmt.Errorf("find koordctl: %w", err)
	}
	if s.KubectlPath, err = exec.LookPath("kubectl"); err != nil {
		s.KubectlPath = filepath.Join(filepath.Dir(s.KoordctlPath), "kubectl")
		_, err = os.Stat(s.KubectlPath)
	}
	var missing []string
	if err != nil {
		missing = append(missing, "kubectl")
	}
	for _, name := range needed {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return finding.Wrap(fmt.Errorf("the tutorial needs programs that are not on the PATH: %s", strings.Join(missing, ", ")),
			finding.InvalidArgument, "install them, and make sure that PATH has their directories")
	}
	return nil
}
