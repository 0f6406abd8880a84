package ecosystem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/test/freeport"
	"koordinator.sh/koord/test/sandboxtest"
)

// controller is a controller of another project. It runs as a process beside the sandbox, as the service account and with the rights, the
// definitions and the webhooks that the manifests of its project give it.
type controller struct {
	// name of the project, which its objects begin with.
	name string
	// ownCertificate is true for a controller that issues its serving certificate itself.
	ownCertificate bool
	// args besides the configuration.
	args []string
	// configure changes its configuration.
	configure func(configuration map[string]any)
}

// setting of one run of a controller.
type setting struct {
	// webhook and health are its ports.
	webhook, health int
	// certificates is the directory with its serving certificate.
	certificates string
	// authority is the bundle that its webhooks are verified with; empty where the controller writes it.
	authority []byte
	// api is the port of its aggregated API; 0 where nothing answers for that.
	api int
}

func (c controller) namespace() string { return c.name + "-system" }

// run installs the manifests, and runs the controller until the test ends.
func (c controller) run(t *testing.T, r *rig, directory string) {
	t.Helper()
	home := t.TempDir()
	s := setting{webhook: freeport.Next(t), health: freeport.Next(t), certificates: filepath.Join(home, "certificates")}
	if err := os.Mkdir(s.certificates, 0o700); err != nil {
		t.Fatal(err)
	}
	if !c.ownCertificate {
		c.certify(t, &s)
	}
	manifests, err := os.ReadFile(filepath.Join(directory, "manifests.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var configuration string
	for _, object := range parse(t, manifests) {
		if object.GetKind() == "ConfigMap" {
			configuration, _, _ = unstructured.NestedString(object.Object, "data", "controller_manager_config.yaml")
		}
		if s.adapt(object) {
			r.create(t, object)
		}
	}
	r.awaitKinds(t, manifests)
	args := append([]string{"--config=" + c.configuration(t, home, configuration, s), "--kubeconfig=" + r.kubeconfig(t, home, c.namespace(), c.name+"-controller-manager")}, c.args...)
	startProcess(t, filepath.Join(directory, "manager"), args...)
	if c.ownCertificate {
		c.mount(t, r, s.certificates)
	}
	sandboxtest.Eventually(t, 2*patience, func() error { return ready(t.Context(), s.health) })
}

// certify issues the serving certificate of the controller's webhooks.
func (c controller) certify(t *testing.T, s *setting) {
	t.Helper()
	authority, err := pki.OpenAuthority(s.certificates, "webhooks", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	_, err = authority.Issue(pki.Identity{File: "tls", User: c.name, Hosts: []string{c.name + "-webhook-service." + c.namespace() + ".svc"}})
	var unread error
	s.authority, unread = os.ReadFile(authority.CertFile())
	if err := errors.Join(err, unread); err != nil {
		t.Fatal(err)
	}
}

// mount writes the certificate that the controller put into its Secret into a directory, as kubelet does.
func (c controller) mount(t *testing.T, r *rig, directory string) {
	t.Helper()
	var secret corev1.Secret
	sandboxtest.Eventually(t, patience, func() error {
		err := r.client.Get(t.Context(), ctrlclient.ObjectKey{Namespace: c.namespace(), Name: c.name + "-webhook-server-cert"}, &secret)
		if err == nil && len(secret.Data[corev1.TLSCertKey]) == 0 {
			err = errors.New("the controller has not issued its certificate")
		}
		return err
	})
	for _, name := range []string{"ca.crt", corev1.TLSPrivateKeyKey, corev1.TLSCertKey} {
		if err := os.WriteFile(filepath.Join(directory, name), secret.Data[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// configuration writes the configuration of the manifests with what differs for a process of this machine, and returns its file.
func (c controller) configuration(t *testing.T, home, manifest string, s setting) string {
	t.Helper()
	configuration := map[string]any{}
	if err := yaml.Unmarshal([]byte(manifest), &configuration); err != nil {
		t.Fatal(err)
	}
	configuration["health"] = map[string]any{"healthProbeBindAddress": net.JoinHostPort("127.0.0.1", strconv.Itoa(s.health))}
	configuration["metrics"] = map[string]any{"bindAddress": "0"}
	configuration["webhook"] = map[string]any{"host": "127.0.0.1", "port": s.webhook, "certDir": s.certificates}
	configuration["leaderElection"] = map[string]any{"leaderElect": false}
	if c.configure != nil {
		c.configure(configuration)
	}
	data, err := yaml.Marshal(configuration)
	file := filepath.Join(home, "configuration.yaml")
	if err := errors.Join(err, os.WriteFile(file, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return file
}

// kubeconfig is that of a service account.
func (r *rig) kubeconfig(t *testing.T, home, namespace, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(3600))}}
	if err := r.client.SubResource("token").Create(t.Context(), account, token); err != nil {
		t.Fatal(err)
	}
	if err := rest.LoadTLSFiles(r.config); err != nil {
		t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: r.config.Host, CertificateAuthorityData: r.config.CAData}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	file := filepath.Join(home, name+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// ready asks the controller whether it is ready, which it is once it serves its webhooks.
func ready(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort("127.0.0.1", strconv.Itoa(port))+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body) // the status says enough
		return fmt.Errorf("not ready: %s", bytes.TrimSpace(text))
	}
	return nil
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
			t.Logf("%s:\n%s", program, data[max(0, len(data)-6000):])
		}
		_ = log.Close() // nothing more is written
	})
}
