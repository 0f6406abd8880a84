package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/test/freeport"
	"koordinator.sh/koord/test/sandboxtest"
)

const deschedulerLease = "koord-descheduler"

// leaderOf returns who holds a lease of the system; empty when it is free.
func leaderOf(t *testing.T, lease string) (string, error) {
	t.Helper()
	found, err := client.CoordinationV1().Leases(systemNamespace).Get(t.Context(), lease, metav1.GetOptions{})
	if err != nil || found.Spec.HolderIdentity == nil {
		return "", err
	}
	return *found.Spec.HolderIdentity, nil
}

// startDescheduler runs a second koord-descheduler with the rights and the configuration of the sandbox's, until the test ends, and
// returns its port.
func startDescheduler(t *testing.T) int {
	t.Helper()
	port := freeport.Next(t)
	var log bytes.Buffer
	ctx, stop := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, shared.Program("koord-descheduler"), "--config="+component.DeschedulerConfigFile(state.At(shared.Directory())),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "--cert-secret="+component.DeschedulerCertSecret)
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := sync.WaitGroup{}
	ended.Go(func() { _ = command.Wait() }) // it is killed
	t.Cleanup(func() {
		stop()
		ended.Wait()
		if t.Failed() {
			t.Logf("log of the second koord-descheduler:\n%s", log.String())
		}
	})
	return port
}

// TestAStandbyOfTheDeschedulerTakesOver when the leader is silent, and is ready before.
func TestAStandbyOfTheDeschedulerTakesOver(t *testing.T) {
	var first string
	sandboxtest.Eventually(t, patience, func() (err error) {
		if first, err = leaderOf(t, deschedulerLease); err == nil && first == "" {
			err = errors.New("nobody leads")
		}
		return err
	})
	port := startDescheduler(t)
	unverified := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	sandboxtest.Eventually(t, patience, func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/readyz", port), nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := unverified.Do(request)
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("the standby is not ready: %s", response.Status)
		}
		return nil
	})
	if now, err := leaderOf(t, deschedulerLease); err != nil || now != first {
		t.Fatalf("%q leads, %v; want %q while it renews its lease", now, err, first)
	}
	resume := pause(t, component.Descheduler)
	sandboxtest.Eventually(t, patience, func() error {
		now, err := leaderOf(t, deschedulerLease)
		if err == nil && (now == first || now == "") {
			err = fmt.Errorf("%q leads", now)
		}
		return err
	})
	before := componentOf(t, component.Descheduler)
	resume()
	// Who has lost the lease ends, and is started again as a standby.
	sandboxtest.Eventually(t, patience, func() error {
		if now := componentOf(t, component.Descheduler); now.Restarts == before.Restarts || now.PID == 0 {
			return fmt.Errorf("it has not restarted: %+v", now)
		}
		return nil
	})
}

// TestThePageOnDescheduling runs the commands of its example in a separate sandbox and looks at what the page says about them.
func TestThePageOnDescheduling(t *testing.T) {
	text, err := os.ReadFile("../../docs/descheduling.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "## Example")
	_, block, found := strings.Cut(example, "```console\n")
	block, claims, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("the page has no example")
	}
	home, err := os.MkdirTemp("", "koord-it-")
	if err != nil {
		t.Fatal(err)
	}
	sandbox, err := sandboxtest.New("skewed", home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := os.Stat(sandbox.Directory()); err == nil { // the example did not come to its end
			if err := sandbox.Down(context.Background()); err != nil {
				t.Error(err)
			}
		}
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	for line := range strings.Lines(block) {
		words := strings.Fields(line)
		if words[0] == "koordctl" && words[1] == "sandbox" && words[2] == "down" {
			checkSkewed(t, sandbox, claims) // before it goes
		}
		runCommand(t, sandbox, words)
	}
}

// runCommand runs a command of a page, and returns what it prints.
func runCommand(t *testing.T, sandbox *sandboxtest.Sandbox, words []string) string {
	t.Helper()
	program := sandbox.Program(words[0])
	if words[0] == "kubectl" {
		var err error
		if program, err = exec.LookPath("kubectl"); err != nil {
			t.Log("kubectl is not installed")
			return ""
		}
	}
	result, err := sandbox.Run(t.Context(), "", program, words[1:]...)
	if err != nil || result.Code != 0 {
		t.Fatalf("%v: exit code %d, %v\n%s%s", words, result.Code, err, result.Stdout, result.Stderr)
	}
	return result.Stdout
}

// checkSkewed holds what the page says against the cluster: which nodes are hot, that no node stays cordoned, and the services' budgets.
func checkSkewed(t *testing.T, sandbox *sandboxtest.Sandbox, claims string) {
	t.Helper()
	const nodes = 12
	crowded := scenario.Crowded(nodes)
	for _, name := range crowded {
		if !strings.Contains(claims, name) {
			t.Errorf("the page does not name %s", name)
		}
	}
	sandboxtest.Eventually(t, 3*time.Minute, func() error {
		var hot []string
		for line := range strings.Lines(runCommand(t, sandbox, []string{"koordctl", "top", "nodes"})) {
			if cells := strings.Fields(line); len(cells) > 1 && cells[1] == "Hot" {
				hot = append(hot, cells[0])
			}
		}
		if !slices.Equal(hot, crowded) {
			return fmt.Errorf("nodes %v are hot, want %v", hot, crowded)
		}
		return nil
	})
	clients, _, err := sandbox.Clients()
	if err != nil {
		t.Fatal(err)
	}
	list, err := clients.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if list.Items[i].Spec.Unschedulable {
			t.Errorf("node %s is cordoned", list.Items[i].Name)
		}
	}
	budgets, err := clients.PolicyV1().PodDisruptionBudgets("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(budgets.Items) != 3 {
		t.Fatalf("%d budgets, %v; want 3", len(budgets.Items), err)
	}
	for i := range budgets.Items {
		if status := budgets.Items[i].Status; status.ExpectedPods != 6 || status.DesiredHealthy != 5 {
			t.Errorf("budget %s: %d pods, %d of them must be healthy; want 6 and 5", budgets.Items[i].Name, status.ExpectedPods, status.DesiredHealthy)
		}
	}
}
