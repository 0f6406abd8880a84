package pki

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"koordinator.sh/koord/sandbox/state"
)

func TestKubeconfigsLoad(t *testing.T) {
	dir := newDir(t)
	b := ensure(t, dir, started)
	if err := b.WriteKubeconfigs(dir, "demo", 6443); err != nil {
		t.Fatal(err)
	}
	for name, pair := range b.clients {
		t.Run(name, func(t *testing.T) {
			path := KubeconfigFile(dir, name)
			if name == "admin" {
				path = dir.Kubeconfig()
			}
			config, err := clientcmd.BuildConfigFromFlags("", path)
			if err != nil {
				t.Fatal(err)
			}
			if config.Host != "https://127.0.0.1:6443" {
				t.Errorf("host = %q; want the API server's port on loopback", config.Host)
			}
			if _, err := rest.TLSConfigFor(config); err != nil {
				t.Errorf("TLSConfigFor() = %v", err)
			}
			if want := read(t, pair.CertFile); !bytes.Equal(config.CertData, want) {
				t.Errorf("the certificate is not that of %q", name)
			}
			if want := read(t, b.CAFile); !bytes.Equal(config.CAData, want) {
				t.Error("the authority is not the cluster's")
			}
			if data := string(read(t, path)); strings.Contains(data, dir.Path()) {
				t.Error("the kubeconfig names files of the sandbox, so it cannot be copied away")
			}
		})
	}
}

func TestContextIsNamedAfterTheSandbox(t *testing.T) {
	dir := newDir(t)
	if err := ensure(t, dir, started).WriteKubeconfigs(dir, "demo", 6443); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(dir.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	const want = "koord-sandbox-demo"
	if config.CurrentContext != want || config.Contexts[want] == nil || ContextName("demo") != want {
		t.Errorf("current context %q of %v; want %q", config.CurrentContext, config.Contexts, want)
	}
}

func TestKubeconfigsThatCannotBeWritten(t *testing.T) {
	dir := newDir(t)
	b := ensure(t, dir, started)
	t.Run("a certificate is gone", func(t *testing.T) {
		if err := os.Remove(b.Client("kwok").CertFile); err != nil {
			t.Fatal(err)
		}
		err := b.WriteKubeconfigs(dir, "demo", 6443)
		if err == nil || !strings.Contains(err.Error(), "kwok.crt") {
			t.Errorf("WriteKubeconfigs() = %v; want an error that names the file", err)
		}
	})
	t.Run("the directory is gone", func(t *testing.T) {
		elsewhere := state.At(filepath.Join(t.TempDir(), "missing"))
		if err := ensure(t, dir, started).WriteKubeconfigs(elsewhere, "demo", 6443); err == nil {
			t.Error("WriteKubeconfigs() = nil; want an error")
		}
	})
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
