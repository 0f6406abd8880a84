package skew

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/test/freeport"
	"koordinator.sh/koord/test/sandboxtest"
)

// startAPIServer runs the API server of a directory and its etcd, without other components, and returns a connection to it.
func startAPIServer(t *testing.T, directory string, args ...string) *rest.Config {
	t.Helper()
	bin, err := sandboxtest.Bin()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	etcd, peer := "http://"+freeport.Address(freeport.Next(t)), "http://"+freeport.Address(freeport.Next(t))
	startProcess(t, filepath.Join(bin, "koord-sandbox"), "etcd", "--data-dir="+filepath.Join(home, "etcd"), "--unsafe-no-fsync=true", "--log-level=warn",
		"--listen-client-urls="+etcd, "--advertise-client-urls="+etcd, "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer)
	key, tokens := filepath.Join(home, "key.pem"), filepath.Join(home, "tokens.csv")
	pem, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err := errors.Join(err, os.WriteFile(key, pem, 0o600), os.WriteFile(tokens, []byte("token,admin,admin,system:masters\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(freeport.Next(t))
	startProcess(t, filepath.Join(directory, "kube-apiserver"), append([]string{
		"--etcd-servers=" + etcd, "--bind-address=127.0.0.1", "--secure-port=" + port, "--cert-dir=" + home, "--service-cluster-ip-range=10.96.0.0/16",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
		"--authorization-mode=RBAC", "--token-auth-file=" + tokens, "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
		"--profiling=false",
	}, args...)...)
	config := &rest.Config{Host: "https://127.0.0.1:" + port, BearerToken: "token", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, 2*patience, func() error {
		_, err := kube.CoreV1().Namespaces().Get(t.Context(), metav1.NamespaceDefault, metav1.GetOptions{})
		return err
	})
	return config
}

// startProcess runs a program until the test ends, and shows what it printed when the test failed.
func startProcess(t *testing.T, program string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...) // the cleanup ends it after those who use it
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()         // as it was killed
		if data, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s:\n%s", filepath.Base(program), data[max(0, len(data)-4000):])
		}
		_ = log.Close() // nothing more is written
	})
}
