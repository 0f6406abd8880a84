package fixes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// asked is the name, or the label "app", of the pod of each scene that is blocked: one that a controller creates has no name of its
// own.
const asked = "asked"

// scene is a file in testdata: objects, after comments that say what to run before and after, what to wait for when all but the last of
// them are there, which kinds of change are expected, that half of a number that they change would not be enough, that the
// agents of all nodes are silent, and by what a description is carried out that has no command.
type scene struct {
	name, namespace      string
	objects              string
	before, after, await []string
	kinds                []string
	by                   string
	halved, silent       bool
}

func readScenes(t *testing.T) []scene {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenes: %v", err)
	}
	var scenes []scene
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := scene{name: strings.TrimSuffix(filepath.Base(file), ".yaml"), namespace: fmt.Sprintf("fix-%d", i), objects: strings.ReplaceAll(string(text), "NAMESPACE", fmt.Sprintf("fix-%d", i))}
		for line := range strings.Lines(s.objects) {
			key, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "# ")), ": ")
			switch {
			case !strings.HasPrefix(line, "# "):
			case key == "before":
				s.before = append(s.before, value)
			case key == "after":
				s.after = append(s.after, value)
			case key == "await":
				s.await = append(s.await, value)
			case key == "by":
				s.by = value
			case key == "kind":
				s.kinds = strings.Split(value, ", ")
			case key == "agents":
				s.silent = value == "silent"
			case key == "half":
				s.halved = value == "not enough"
			default:
				t.Fatalf("%s: line %q", file, line)
			}
		}
		scenes = append(scenes, s)
	}
	return scenes
}

// TestEveryFixPlacesThePod is the promise of `explain pod`: what is printed, carried out as printed, gives the pod a node.
func TestEveryFixPlacesThePod(t *testing.T) {
	for _, s := range readScenes(t) {
		t.Run(s.name, func(t *testing.T) {
			awaitReports(t)
			s.set(t)
			s.awaitAsked(t)
			holdUsage(t)
			s.agree(t)
			fix := s.verifiedFix(t)
			if !slices.Contains(s.kinds, fix.Kind) {
				t.Errorf("kind %q, want one of %q: %s", fix.Kind, s.kinds, fix.Description)
			}
			if fix.DryRun != nil && fix.DryRun.Verdict != diagnosticsv1alpha1.DryRunAccepted {
				t.Errorf("the API server says %+v to %s", fix.DryRun, fix.Description)
			}
			if s.halved {
				s.halve(t, fix)
			}
			s.carryOut(t, fix)
			s.awaitNode(t)
		})
	}
}

// set makes the scene for the time of the test.
func (s scene) set(t *testing.T) {
	t.Helper()
	mustRun(t, "", "kubectl create namespace "+s.namespace)
	t.Cleanup(func() { s.strike(t) })
	for _, line := range s.before {
		mustRun(t, "", s.words(line))
	}
	if s.silent {
		awaitSilence(t)
	}
	documents := strings.Split(s.objects, "\n---\n")
	last := len(documents) - 1
	if last > 0 {
		mustRun(t, strings.Join(documents[:last], "\n---\n"), "kubectl create -n "+s.namespace+" -f -")
		s.awaitOthers(t)
	}
	for _, line := range s.await {
		mustRun(t, "", s.words(line))
	}
	mustRun(t, documents[last], "kubectl create -n "+s.namespace+" -f -")
}

// words are a line of a scene for this run.
func (s scene) words(line string) string { return strings.ReplaceAll(line, "NAMESPACE", s.namespace) }

// strike takes the scene away again, and waits until nothing of it holds room.
func (s scene) strike(t *testing.T) {
	t.Helper()
	lines := append(slices.Clone(s.after),
		"kubectl delete deployments,statefulsets,replicasets -n NAMESPACE --all --cascade=foreground --ignore-not-found",
		"kubectl delete pods -n NAMESPACE --all --force --grace-period 0 --ignore-not-found", "kubectl delete reservations -l scene=NAMESPACE --ignore-not-found")
	for _, line := range lines {
		mustRun(t, "", s.words(line))
	}
	sandboxtest.Eventually(t, patience, func() error {
		result, err := shell(background, "", s.words("kubectl delete elasticquotas -n NAMESPACE --all --ignore-not-found && kubectl delete namespace NAMESPACE --wait=false"))
		if err == nil && result.Code != 0 {
			err = fmt.Errorf("%s", result.Stderr)
		}
		return err
	})
}
