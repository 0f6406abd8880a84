package integration

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestASandboxComesUpWithAPendingPod: the pod that makes a node hot is to come before all others, and its node takes none.
func TestASandboxComesUpWithAPendingPod(t *testing.T) {
	home, err := os.MkdirTemp("", "koord-pd-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) }) // a temporary directory
	sandbox, err := sandboxtest.New("pending", home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	run := func(args ...string) sandboxtest.Result {
		t.Helper()
		result, err := sandbox.Koordctl(t.Context(), append([]string{"sandbox", args[0], "--name", "pending"}, args[1:]...)...)
		if err != nil || result.Code != 0 {
			t.Fatalf("%v: exit code %d, %v\n%s%s", args, result.Code, err, result.Stdout, result.Stderr)
		}
		return result
	}
	if first := run("up", "--nodes", "14"); strings.Contains(first.Stderr, "is pending") {
		t.Fatalf("a pod is pending from the start, so this shows nothing:\n%s", first.Stderr)
	}
	own, _, err := sandbox.Clients()
	if err != nil {
		t.Fatal(err)
	}
	_, err = own.CoreV1().Nodes().Patch(t.Context(), scenario.HotNode(14), "application/strategic-merge-patch+json", []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := own.CoreV1().Pods("shop").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=cache"}); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error { // the pod of before is gone, and the one that replaces it has no node
		pods, err := own.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{LabelSelector: "app=cache"})
		if err != nil {
			return err
		}
		if len(pods.Items) != 1 || pods.Items[0].Spec.NodeName != "" {
			return fmt.Errorf("there are %d pods of the cache, want one without a node", len(pods.Items))
		}
		return nil
	})
	run("down")

	began := time.Now()
	second := run("up")
	if took := time.Since(began); took > 2*patience {
		t.Errorf("it took %s", took)
	}
	for _, want := range []string{"Pod shop/cache-", " is pending: 0/14 nodes are available", "explain pod -n shop cache-"} {
		if !strings.Contains(second.Stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, second.Stderr)
		}
	}
	t.Logf("up again within %s:\n%s", time.Since(began), second.Stderr)
}
