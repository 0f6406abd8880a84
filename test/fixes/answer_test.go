package fixes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// asked is the blocked pod. Of those of a controller it is the one that was created last.
func (s scene) asked(t *testing.T) (*corev1.Pod, error) {
	t.Helper()
	pods, err := client.CoreV1().Pods(s.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var found *corev1.Pod
	for i := range pods.Items {
		pod := &pods.Items[i]
		named := pod.Name == asked || pod.Labels["app"] == asked
		if named && pod.DeletionTimestamp == nil && (found == nil || found.CreationTimestamp.Before(&pod.CreationTimestamp)) {
			found = pod
		}
	}
	if found == nil {
		return nil, fmt.Errorf("there is no pod %s", asked)
	}
	return found, nil
}

// explained is what a user sees of a pod.
func explained(t *testing.T, namespace, name string) *diagnosticsv1alpha1.PodExplanation {
	t.Helper()
	result, err := shared.Koordctl(t.Context(), "explain", "pod", name, "-n", namespace, "-o", "json")
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
func (s scene) verifiedFix(t *testing.T) *diagnosticsv1alpha1.Fix {
	t.Helper()
	pod, err := s.asked(t)
	if err != nil {
		t.Fatal(err)
	}
	answer := explained(t, s.namespace, pod.Name)
	if answer.Status.Fix == nil || !answer.Status.Fix.Verified {
		t.Fatalf("no verified fix: %+v", answer.Status)
	}
	return answer.Status.Fix
}

// carryOut does what is printed.
func (s scene) carryOut(t *testing.T, fix *diagnosticsv1alpha1.Fix) {
	t.Helper()
	t.Logf("%s\n%s", fix.Description, fix.Command)
	if fix.Command != "" {
		mustRun(t, "", fix.Command)
	}
	if fix.Manifest != "" {
		mustRun(t, fix.Manifest, "kubectl replace --force -f -")
	}
	if fix.Command != "" || fix.Manifest != "" {
		return
	}
	if s.by == "" {
		t.Fatalf("nothing to carry out: %+v", fix)
	}
	mustRun(t, "", strings.ReplaceAll(s.by, "NODE", fix.Node))
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
