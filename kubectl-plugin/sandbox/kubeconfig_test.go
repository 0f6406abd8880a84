package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

const (
	ofDemo = "koord-sandbox-demo"
	ofWork = "work"
)

var ignoreOrigin = cmp.Options{
	cmpopts.IgnoreFields(clientcmdapi.Cluster{}, "LocationOfOrigin"),
	cmpopts.IgnoreFields(clientcmdapi.AuthInfo{}, "LocationOfOrigin"),
	cmpopts.IgnoreFields(clientcmdapi.Context{}, "LocationOfOrigin"),
	cmpopts.EquateEmpty(),
}

func TestWhichContextIsCurrent(t *testing.T) {
	tests := map[string]struct {
		before     string // current context
		switchTo   bool
		want       string
		wantForget string // after the sandbox is deleted
	}{
		"a user without a context gets one":    {before: "", want: ofDemo, wantForget: ""},
		"a user at work stays there":           {before: ofWork, want: ofWork, wantForget: ofWork},
		"a user at work can ask to switch":     {before: ofWork, switchTo: true, want: ofDemo, wantForget: ""},
		"another sandbox gives way":            {before: "koord-sandbox-default", want: ofDemo, wantForget: ""},
		"the sandbox is the current one again": {before: ofDemo, want: ofDemo, wantForget: ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			dir := m.add(t, demo)
			others := userConfig(tc.before)
			processtest.Must(t, clientcmd.WriteToFile(*others, m.kubeconfig))

			before, current, err := mergeKubeconfig(t.Context(), dir.Kubeconfig(), ofDemo, tc.switchTo)
			processtest.Must(t, err)
			got := load(t, m.kubeconfig)
			if before != tc.before {
				t.Errorf("context before = %q; want %q", before, tc.before)
			}
			if got.CurrentContext != tc.want || current != (tc.want == ofDemo) {
				t.Errorf("current context = %q, %t; want %q", got.CurrentContext, current, tc.want)
			}
			want := load(t, dir.Kubeconfig())
			if diff := cmp.Diff(want.Contexts[ofDemo], got.Contexts[ofDemo], ignoreOrigin); diff != "" {
				t.Errorf("the sandbox's context (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.Clusters[ofDemo], got.Clusters[ofDemo], ignoreOrigin); diff != "" {
				t.Errorf("the sandbox's cluster (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.AuthInfos[ofDemo], got.AuthInfos[ofDemo], ignoreOrigin); diff != "" {
				t.Errorf("the sandbox's user (-want +got):\n%s", diff)
			}

			_, _, err = forgetKubeconfig(t.Context(), ofDemo, nil)
			processtest.Must(t, err)
			others.CurrentContext = tc.wantForget
			if diff := cmp.Diff(others, load(t, m.kubeconfig), ignoreOrigin); diff != "" {
				t.Errorf("the user's kubeconfig in the end (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhichContextFollowsADeletedSandboxs(t *testing.T) {
	tests := map[string]struct {
		current, before string
		others          []string // sandboxes that there are
		want            string   // current context in the end
		wantErrOut      string
	}{
		"the one before it comes back": {
			current: ofDemo, before: ofWork, others: []string{"default"}, want: ofWork,
			wantErrOut: "Your current kubectl context is now \"work\".\n",
		},
		"the one before it was deleted, and another sandbox has one": {
			current: ofDemo, before: "deleted", others: []string{"bare", "default"}, want: "koord-sandbox-default",
			wantErrOut: "Your current kubectl context is now \"koord-sandbox-default\".\n",
		},
		"there was none before it": {
			current: ofDemo, others: []string{"default"}, want: "koord-sandbox-default",
			wantErrOut: "Your current kubectl context is now \"koord-sandbox-default\".\n",
		},
		"there is no other": {
			current: ofDemo, before: "deleted", want: "", wantErrOut: "No current kubectl context is set now.\n",
		},
		"the user is elsewhere": {current: ofWork, before: "koord-sandbox-default", others: []string{"default"}, want: ofWork},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			dir := m.add(t, demo)
			processtest.Must(t, dir.WritePreviousContext(tc.before))
			for _, other := range tc.others {
				m.add(t, state.Spec{Name: other, Speed: 1})
			}
			config := userConfig(tc.current)
			config.Contexts[ofDemo] = &clientcmdapi.Context{Cluster: ofWork, AuthInfo: ofWork}
			processtest.Must(t, clientcmd.WriteToFile(*config, m.kubeconfig))
			got := m.run(t.Context(), "down", "--purge", "--name", "demo")
			if got.err != nil || got.errOut != tc.wantErrOut {
				t.Errorf("down --purge = %v, %q; want %q", got.err, got.errOut, tc.wantErrOut)
			}
			if current := load(t, m.kubeconfig).CurrentContext; current != tc.want {
				t.Errorf("current context = %q; want %q", current, tc.want)
			}
		})
	}
}

// TestTheContextBeforeASandboxIsRemembered asks for a running sandbox from one context after the other.
func TestTheContextBeforeASandboxIsRemembered(t *testing.T) {
	m := newMachine(t)
	dir := m.add(t, demo)
	processtest.Answer(t, dir, statusOf(dir, demo, control.Running))
	processtest.Must(t, clientcmd.WriteToFile(*userConfig(ofWork), m.kubeconfig))
	for _, step := range []struct{ current, want string }{
		{ofWork, ofWork},
		{ofDemo, ofWork}, // nothing new is known
		{"koord-sandbox-default", "koord-sandbox-default"},
	} {
		processtest.Must(t, modifyKubeconfig(t.Context(), func(user *clientcmdapi.Config) { user.CurrentContext = step.current }))
		if got := m.run(t.Context(), "up", "--name", "demo"); got.err != nil {
			t.Fatalf("up = %+v", got)
		}
		if got := dir.PreviousContext(); got != step.want {
			t.Errorf("context before, after `up` from %q = %q; want %q", step.current, got, step.want)
		}
	}
	if diff := cmp.Diff([]string{m.kubeconfig}, dir.UserKubeconfigs()); diff != "" {
		t.Errorf("kubeconfigs that up wrote to (-want +got):\n%s", diff)
	}
}

func TestASecondStartReplacesTheContext(t *testing.T) {
	m := newMachine(t)
	dir := m.add(t, demo)
	merge := func() *clientcmdapi.Config {
		_, _, err := mergeKubeconfig(t.Context(), dir.Kubeconfig(), ofDemo, false)
		processtest.Must(t, err)
		return load(t, m.kubeconfig)
	}
	merge()
	processtest.Must(t, modifyKubeconfig(t.Context(), func(user *clientcmdapi.Config) { user.Contexts[ofDemo].Namespace = "analytics" }))
	processtest.Must(t, writeKubeconfig(dir, "demo", 7777))
	got := merge()
	if server := got.Clusters[ofDemo].Server; server != "https://127.0.0.1:7777" {
		t.Errorf("server = %q; want that of the second start", server)
	}
	if namespace := got.Contexts[ofDemo].Namespace; namespace != "analytics" {
		t.Errorf("namespace = %q; want the one the user has chosen", namespace)
	}
}

// TestSeveralKubeconfigFiles has a user whose KUBECONFIG names two files.
func TestSeveralKubeconfigFiles(t *testing.T) {
	m := newMachine(t)
	dir := m.add(t, demo)
	first, second := filepath.Join(m.home, "first"), filepath.Join(m.home, "second")
	t.Setenv("KUBECONFIG", first+string(os.PathListSeparator)+second)
	processtest.Must(t, clientcmd.WriteToFile(*userConfig(ofWork), first))
	sandboxOnly := clientcmdapi.NewConfig()
	sandboxOnly.Clusters[ofDemo] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
	sandboxOnly.AuthInfos[ofDemo] = &clientcmdapi.AuthInfo{Token: "old"}
	sandboxOnly.Contexts[ofDemo] = &clientcmdapi.Context{Cluster: ofDemo, AuthInfo: ofDemo}
	processtest.Must(t, clientcmd.WriteToFile(*sandboxOnly, second))

	_, _, err := mergeKubeconfig(t.Context(), dir.Kubeconfig(), ofDemo, false)
	processtest.Must(t, err)
	if diff := cmp.Diff(userConfig(ofWork), load(t, first), ignoreOrigin); diff != "" {
		t.Errorf("the file without the sandbox changed (-before +after):\n%s", diff)
	}
	if server := load(t, second).Clusters[ofDemo].Server; server != "https://127.0.0.1:6443" {
		t.Errorf("server in the file that has the sandbox = %q; want the new one", server)
	}
	_, _, err = forgetKubeconfig(t.Context(), ofDemo, nil)
	processtest.Must(t, err)
	if diff := cmp.Diff(clientcmdapi.NewConfig(), load(t, second), ignoreOrigin); diff != "" {
		t.Errorf("the second file in the end (-want +got):\n%s", diff)
	}
}

func TestKubeconfigsThatCannotBeMerged(t *testing.T) {
	m := newMachine(t)
	dir := m.add(t, demo)
	t.Run("the sandbox's is missing", func(t *testing.T) {
		if _, _, err := mergeKubeconfig(t.Context(), filepath.Join(m.home, "missing"), ofDemo, false); err == nil {
			t.Error("mergeKubeconfig() = nil; want an error")
		}
	})
	t.Run("the sandbox's is of another sandbox", func(t *testing.T) {
		if _, _, err := mergeKubeconfig(t.Context(), dir.Kubeconfig(), "koord-sandbox-other", false); err == nil {
			t.Error("mergeKubeconfig() = nil; want an error")
		}
	})
	t.Run("the user's is broken, and stays as it is", func(t *testing.T) {
		processtest.Must(t, os.WriteFile(m.kubeconfig, []byte("\tnonsense"), 0o600))
		if _, _, err := mergeKubeconfig(t.Context(), dir.Kubeconfig(), ofDemo, false); err == nil {
			t.Error("mergeKubeconfig() = nil; want an error")
		}
		if data, err := os.ReadFile(m.kubeconfig); err != nil || string(data) != "\tnonsense" {
			t.Errorf("the user's kubeconfig = %q, %v", data, err)
		}
	})
}

// TestAKubeconfigIsWrittenByOneAtATime has several commands add a context each, while kubectl writes now and then.
func TestAKubeconfigIsWrittenByOneAtATime(t *testing.T) {
	m := newMachine(t)
	const writers = 8
	kubectl, err := os.OpenFile(m.kubeconfig+".lock", os.O_CREATE|os.O_EXCL, 0)
	processtest.Must(t, err)
	processtest.Must(t, kubectl.Close())
	var group sync.WaitGroup
	results := make([]error, writers)
	for i := range results {
		group.Go(func() {
			results[i] = modifyKubeconfig(t.Context(), func(user *clientcmdapi.Config) {
				user.Contexts[fmt.Sprint(i)] = &clientcmdapi.Context{Cluster: ofWork}
			})
		})
	}
	processtest.Must(t, os.Remove(kubectl.Name()))
	group.Wait()
	processtest.Must(t, errors.Join(results...))
	if got := load(t, m.kubeconfig).Contexts; len(got) != writers {
		t.Errorf("%d contexts; want %d", len(got), writers)
	}
}

func TestAKubeconfigThatStaysLocked(t *testing.T) {
	m := newMachine(t)
	processtest.Must(t, os.WriteFile(m.kubeconfig+".lock", nil, 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := modifyKubeconfig(ctx, func(user *clientcmdapi.Config) { user.CurrentContext = ofWork })
	if !errors.Is(err, os.ErrExist) || !strings.Contains(err.Error(), "write your kubeconfig: open "+m.kubeconfig+".lock") {
		t.Errorf("modifyKubeconfig() = %v; want that the file's lock is in the way", err)
	}
}

func TestForgetWithoutAKubeconfig(t *testing.T) {
	m := newMachine(t)
	_, changed, err := forgetKubeconfig(t.Context(), ofDemo, []string{ofWork})
	if changed || err != nil {
		t.Errorf("forgetKubeconfig() = %t, %v; want that nothing changed", changed, err)
	}
	if _, err := os.Stat(m.kubeconfig); !os.IsNotExist(err) {
		t.Errorf("the user's kubeconfig: %v; want that none is made", err)
	}
}

func TestKubeconfigIsPrinted(t *testing.T) {
	m := newMachine(t)
	dir := m.add(t, state.Spec{Name: "bare", KubernetesOnly: true, Speed: 1})
	got := m.run(t.Context(), "kubeconfig", "--name", "bare")
	want, err := os.ReadFile(dir.Kubeconfig())
	processtest.Must(t, err)
	if got.out != string(want) || got.errOut != "" || got.err != nil {
		t.Errorf("kubeconfig = %+v; want the file as it is", got)
	}
}

func userConfig(current string) *clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	config.CurrentContext = current
	for _, name := range []string{ofWork, "koord-sandbox-default"} {
		config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + name + ".example.com"}
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: name}
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "mine"}
	}
	return config
}

func load(t *testing.T, path string) *clientcmdapi.Config {
	t.Helper()
	config, err := clientcmd.LoadFromFile(path)
	processtest.Must(t, err)
	return config
}

// TestDeletingASandboxForgetsItWhereUpWroteIt deletes a sandbox with another KUBECONFIG than it was started with.
func TestDeletingASandboxForgetsItWhereUpWroteIt(t *testing.T) {
	m := newMachine(t)
	dir := m.add(t, demo)
	processtest.Must(t, clientcmd.WriteToFile(*userConfig(ofWork), m.kubeconfig))
	_, _, err := mergeKubeconfig(t.Context(), dir.Kubeconfig(), ofDemo, true)
	processtest.Must(t, err)
	file, err := kubeconfigOf(ofDemo)
	if err != nil || file != m.kubeconfig {
		t.Fatalf("the context is in %q, error %v; want %q", file, err, m.kubeconfig)
	}
	processtest.Must(t, dir.AddUserKubeconfig(file))
	processtest.Must(t, dir.AddUserKubeconfig(filepath.Join(m.home, "deleted since")))

	other := filepath.Join(m.home, "other")
	processtest.Must(t, clientcmd.WriteToFile(*userConfig(ofWork), other))
	t.Setenv("KUBECONFIG", other)
	if got := m.run(t.Context(), "down", "--purge", "--name", "demo"); got.err != nil {
		t.Fatal(got.err)
	}
	for _, file := range []string{m.kubeconfig, other} {
		if left := load(t, file); left.Contexts[ofDemo] != nil || left.Clusters[ofDemo] != nil || left.AuthInfos[ofDemo] != nil || left.CurrentContext == ofDemo {
			t.Errorf("%s still has the sandbox: current context %q", file, left.CurrentContext)
		}
	}
	if _, err := os.Stat(filepath.Join(m.home, "deleted since")); !os.IsNotExist(err) {
		t.Errorf("a kubeconfig that was deleted is made anew: %v", err)
	}
}
