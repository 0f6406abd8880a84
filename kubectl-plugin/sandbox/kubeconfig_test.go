package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

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
			must(t, clientcmd.WriteToFile(*others, m.kubeconfig))

			current, err := mergeKubeconfig(dir.Kubeconfig(), ofDemo, tc.switchTo)
			must(t, err)
			got := load(t, m.kubeconfig)
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

			must(t, forgetKubeconfig(ofDemo))
			others.CurrentContext = tc.wantForget
			if diff := cmp.Diff(others, load(t, m.kubeconfig), ignoreOrigin); diff != "" {
				t.Errorf("the user's kubeconfig in the end (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASecondStartReplacesTheContext(t *testing.T) {
	m := newMachine(t)
	dir := m.add(t, demo)
	merge := func() *clientcmdapi.Config {
		_, err := mergeKubeconfig(dir.Kubeconfig(), ofDemo, false)
		must(t, err)
		return load(t, m.kubeconfig)
	}
	merge()
	must(t, modifyKubeconfig(func(user *clientcmdapi.Config) { user.Contexts[ofDemo].Namespace = "analytics" }))
	must(t, writeKubeconfig(dir, "demo", 7777))
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
	must(t, clientcmd.WriteToFile(*userConfig(ofWork), first))
	sandboxOnly := clientcmdapi.NewConfig()
	sandboxOnly.Clusters[ofDemo] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
	sandboxOnly.AuthInfos[ofDemo] = &clientcmdapi.AuthInfo{Token: "old"}
	sandboxOnly.Contexts[ofDemo] = &clientcmdapi.Context{Cluster: ofDemo, AuthInfo: ofDemo}
	must(t, clientcmd.WriteToFile(*sandboxOnly, second))

	_, err := mergeKubeconfig(dir.Kubeconfig(), ofDemo, false)
	must(t, err)
	if diff := cmp.Diff(userConfig(ofWork), load(t, first), ignoreOrigin); diff != "" {
		t.Errorf("the file without the sandbox changed (-before +after):\n%s", diff)
	}
	if server := load(t, second).Clusters[ofDemo].Server; server != "https://127.0.0.1:6443" {
		t.Errorf("server in the file that has the sandbox = %q; want the new one", server)
	}
	must(t, forgetKubeconfig(ofDemo))
	if diff := cmp.Diff(clientcmdapi.NewConfig(), load(t, second), ignoreOrigin); diff != "" {
		t.Errorf("the second file in the end (-want +got):\n%s", diff)
	}
}

func TestKubeconfigsThatCannotBeMerged(t *testing.T) {
	m := newMachine(t)
	dir := m.add(t, demo)
	t.Run("the sandbox's is missing", func(t *testing.T) {
		if _, err := mergeKubeconfig(filepath.Join(m.home, "missing"), ofDemo, false); err == nil {
			t.Error("mergeKubeconfig() = nil; want an error")
		}
	})
	t.Run("the sandbox's is of another sandbox", func(t *testing.T) {
		if _, err := mergeKubeconfig(dir.Kubeconfig(), "koord-sandbox-other", false); err == nil {
			t.Error("mergeKubeconfig() = nil; want an error")
		}
	})
	t.Run("the user's is broken, and stays as it is", func(t *testing.T) {
		must(t, os.WriteFile(m.kubeconfig, []byte("\tnonsense"), 0o600))
		if _, err := mergeKubeconfig(dir.Kubeconfig(), ofDemo, false); err == nil {
			t.Error("mergeKubeconfig() = nil; want an error")
		}
		if data, err := os.ReadFile(m.kubeconfig); err != nil || string(data) != "\tnonsense" {
			t.Errorf("the user's kubeconfig = %q, %v", data, err)
		}
	})
}

func TestForgetWithoutAKubeconfig(t *testing.T) {
	m := newMachine(t)
	must(t, forgetKubeconfig(ofDemo))
	if _, err := os.Stat(m.kubeconfig); !os.IsNotExist(err) {
		t.Errorf("the user's kubeconfig: %v; want that none is made", err)
	}
}

func TestKubeconfigIsPrinted(t *testing.T) {
	m := newMachine(t)
	dir := m.add(t, state.Spec{Name: "bare", KubernetesOnly: true, Speed: 1})
	got := m.run(t.Context(), "kubeconfig", "--name", "bare")
	want, err := os.ReadFile(dir.Kubeconfig())
	must(t, err)
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
	must(t, err)
	return config
}
