package kubectlplugin

import (
	"os/exec"
	"strings"
	"testing"
)

// TestNothingLinksKubernetes keeps the program small and quick to start: k8s.io/kubernetes is the scheduler's and the
// sandbox's alone.
func TestNothingLinksKubernetes(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "koordinator.sh/koord/cmd/koordctl").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for pkg := range strings.Lines(string(out)) {
		pkg = strings.TrimSpace(pkg)
		if pkg == "k8s.io/kubernetes" || strings.HasPrefix(pkg, "k8s.io/kubernetes/") {
			t.Errorf("koordctl links %s", pkg)
		}
	}
}
