package fixes

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host/simulated"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// asked is the pod of each scene that is blocked.
const asked = "asked"

// scene is a file in testdata: objects, after comments that say what to run before and after, which kinds of change are expected,
// and that half of a number that they change would not be enough.
type scene struct {
	name, namespace string
	objects         string
	before, after   []string
	kinds           []string
	halved          bool
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
			case key == "kind":
				s.kinds = strings.Split(value, ", ")
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
			s.set(t)
			awaitRefusal(t, s.namespace, asked)
			holdUsage(t)
			agree(t, s.namespace)
			fix := verifiedFix(t, s.namespace)
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
			awaitNode(t, s.namespace, asked)
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
	documents := strings.Split(s.objects, "\n---\n")
	last := len(documents) - 1
	if last > 0 {
		mustRun(t, strings.Join(documents[:last], "\n---\n"), "kubectl create -n "+s.namespace+" -f -")
		s.awaitOthers(t)
	}
	mustRun(t, documents[last], "kubectl create -n "+s.namespace+" -f -")
}

// words are a line of a scene for this run.
func (s scene) words(line string) string { return strings.ReplaceAll(line, "NAMESPACE", s.namespace) }

// awaitOthers waits until the pods that are there first have nodes.
func (s scene) awaitOthers(t *testing.T) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pods, err := client.CoreV1().Pods(s.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range pods.Items {
			if pods.Items[i].Spec.NodeName == "" && pods.Items[i].Labels["waits"] == "" {
				return fmt.Errorf("pod %s has no node", pods.Items[i].Name)
			}
		}
		return nil
	})
}

// strike takes the scene away again, and waits until nothing of it holds room.
func (s scene) strike(t *testing.T) {
	t.Helper()
	lines := append(slices.Clone(s.after),
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

// holdUsage keeps the nodes from reporting other usage for the rest of the test: the largest request that a node has room for now
// may be too large by a thousandth of a CPU after the next report. A NodeMetric counts for three minutes.
func holdUsage(t *testing.T) {
	t.Helper()
	annotate := "kubectl annotate nodes --all --overwrite " + simulated.AnnotationFreezeMetrics
	mustRun(t, "", annotate+"=true")
	t.Cleanup(func() { mustRun(t, "", annotate+"-") })
	last := ""
	sandboxtest.Eventually(t, patience, func() error { // a report may be under way
		result, err := shell(t.Context(), "", "kubectl get nodemetrics -o jsonpath='{.items[*].metadata.resourceVersion}'")
		if before := last; err == nil && result.Stdout != before {
			last = result.Stdout
			err = fmt.Errorf("nodes still report: %s after %s", last, before)
		}
		return err
	})
}

// explained is what a person is told of the blocked pod.
func explained(t *testing.T, namespace string) *diagnosticsv1alpha1.PodExplanation {
	t.Helper()
	result, err := shared.Koordctl(t.Context(), "explain", "pod", asked, "-n", namespace, "-o", "json")
	if err != nil || result.Code != 0 {
		t.Fatalf("explain: %v\n%s", err, result.Stderr)
	}
	answer := &diagnosticsv1alpha1.PodExplanation{}
	if err := json.Unmarshal([]byte(result.Stdout), answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// verifiedFix is the change that the explanation proposes.
func verifiedFix(t *testing.T, namespace string) *diagnosticsv1alpha1.Fix {
	t.Helper()
	answer := explained(t, namespace)
	if answer.Status.Fix == nil || !answer.Status.Fix.Verified {
		t.Fatalf("no verified fix: %+v", answer.Status)
	}
	return answer.Status.Fix
}

// carryOut does what is printed.
func (s scene) carryOut(t *testing.T, fix *diagnosticsv1alpha1.Fix) {
	t.Helper()
	if fix.Command != "" {
		mustRun(t, "", fix.Command)
	}
	if fix.Manifest != "" {
		mustRun(t, fix.Manifest, "kubectl replace --force -f -")
	}
	if fix.Command == "" && fix.Manifest == "" {
		t.Fatalf("nothing to carry out: %+v", fix)
	}
}

// mustRun runs a command line that has to succeed.
func mustRun(t *testing.T, stdin, line string) {
	t.Helper()
	ctx := t.Context()
	if ctx.Err() != nil {
		ctx = background
	}
	result, err := shell(ctx, stdin, line)
	if err != nil || result.Code != 0 {
		t.Fatalf("%s: %v, exit code %d\n%s%s", line, err, result.Code, result.Stdout, result.Stderr)
	}
}

// awaitRefusal waits until the scheduler has refused the pod.
func awaitRefusal(t *testing.T, namespace, name string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pod, err := client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod.Spec.NodeName != "" {
			t.Fatalf("pod %s got node %s", name, pod.Spec.NodeName)
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				return nil
			}
		}
		return fmt.Errorf("pod %s is not refused", name)
	})
}

// awaitNode waits until the pod has a node.
func awaitNode(t *testing.T, namespace, name string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		pod, err := client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && pod.Spec.NodeName == "" {
			err = fmt.Errorf("pod %s has no node: %+v", name, pod.Status.Conditions)
		}
		return err
	})
}
