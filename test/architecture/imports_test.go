// Package architecture checks the rules about who may import whom, on which start-up time and testability depend.
package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "koordinator.sh/koord"

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// list runs go list on patterns, from the module's root.
func list(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Standard,Imports,Deps"}, args...)...)
	cmd.Dir = "../.."
	var problems strings.Builder
	cmd.Stderr = &problems
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, problems.String())
	}
	var packages []listed
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func TestKoordctlDoesNotLinkKubernetesServers(t *testing.T) {
	for _, program := range []string{"koordctl", "koord-descheduler", "koord-manager"} {
		for _, p := range list(t, "./cmd/"+program) {
			for _, dep := range p.Deps {
				if within(dep, "k8s.io/kubernetes") {
					t.Errorf("%s links %s", program, dep)
				}
			}
		}
	}
}

// TestProgramsDoNotLinkWhatMakesTheDocumentation: a terminal emulator is needed to record programs, and by none of them.
func TestProgramsDoNotLinkWhatMakesTheDocumentation(t *testing.T) {
	for _, p := range list(t, "./cmd/...") {
		for _, dep := range p.Deps {
			if within(dep, module+"/build") || within(dep, "github.com/charmbracelet/x/vt") {
				t.Errorf("%s links %s", p.ImportPath, dep)
			}
		}
	}
}

func TestOnlySchedulerAndSandboxImportKubernetes(t *testing.T) {
	allowed := []string{module + "/scheduler", module + "/sandbox/controlplane", module + "/cmd/koord-scheduler", module + "/bench", module + "/test"}
	for _, p := range list(t, "./...") {
		if slices.ContainsFunc(allowed, func(root string) bool { return within(p.ImportPath, root) }) {
			continue
		}
		for _, imported := range p.Imports {
			if within(imported, "k8s.io/kubernetes") {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}

func TestDecisionsImportNothingThatActs(t *testing.T) {
	// Types, quantities, and the one function that Kubernetes itself sums pod requests with.
	allowed := []string{
		module + "/api", module + "/decision", "k8s.io/api", "k8s.io/apimachinery", "k8s.io/component-helpers/resource",
	}
	// What Kubernetes itself matches tolerations and node selectors with, and the type of the logger that this takes.
	extra := map[string][]string{module + "/decision/scheduling/nodefit": {"k8s.io/component-helpers/scheduling", "k8s.io/klog/v2"}}
	for _, p := range list(t, "./decision/...") {
		allowed := append(slices.Clip(allowed), extra[p.ImportPath]...)
		for _, imported := range p.Imports {
			first, _, _ := strings.Cut(imported, "/")
			standard := !strings.Contains(first, ".")
			if !standard && !slices.ContainsFunc(allowed, func(root string) bool { return within(imported, root) }) {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
			if slices.Contains([]string{"net", "net/http", "os", "os/exec", "log", "log/slog"}, imported) {
				t.Errorf("%s imports %s: a decision does no I/O", p.ImportPath, imported)
			}
		}
	}
}

// layers of the system, lowest first: a package may import packages of the same part and of lower layers.
var layers = map[string]int{
	"api": 0, "messages": 0, "decision": 1, "certificate": 1, "deploy": 1, "grants": 2, "reviewhttp": 1, "outage": 1, "securedport": 2, "source": 2, "kubectl-plugin/printer": 2, "runtimeproxy/hookapi": 2, "runtimeproxy/peer": 2,
	"schedulerclient": 3, "agent": 4, "bridge": 4, "controllers": 4, "descheduler": 4, "scheduler": 4, "tui": 4, "runtimeproxy": 5, "sandbox": 5, "kubectl-plugin": 6, "cmd": 7,
}

func TestDependenciesPointDownwards(t *testing.T) {
	var wrong []string
	for _, p := range list(t, "./...") {
		from := part(p.ImportPath)
		if from == "test" || from == "bench" || from == "build" || from == "docs" {
			continue
		}
		layer, known := layers[from]
		if !known {
			t.Errorf("%s lies in no layer", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			to := part(imported)
			if !within(imported, module) || to == from {
				continue
			}
			if target, known := layers[to]; !known || target >= layer {
				wrong = append(wrong, p.ImportPath+" imports "+imported)
			}
		}
	}
	if diff := cmp.Diff([]string(nil), wrong); diff != "" {
		t.Errorf("imports against the direction (-want +got):\n%s", diff)
	}
}

// part is the part of the system that a package of this module belongs to: its first folder, or a deeper one that is a
// separate layer.
func part(path string) string {
	inside := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	for name := range layers {
		if strings.Contains(name, "/") && within(inside, name) {
			return name
		}
	}
	first, _, _ := strings.Cut(inside, "/")
	return first
}
