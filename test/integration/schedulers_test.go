package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/state"
	"koordinator.sh/koord/test/freeport"
)

// The leases of schedulers that tests run are short, so that another one takes over soon.
const (
	leaseDuration = "4s"
	renewDeadline = "3s"
	retryPeriod   = "500ms"
)

// scheduler is a koord-scheduler that a test runs beside the sandbox's own, with the same configuration: it answers for a
// profile of its own name, and leads by a lease of that name unless it shares it with another one. A process that ends is
// followed by another one.
type scheduler struct {
	name        string
	config      string
	diagnostics int
	log         *os.File

	mutex   sync.Mutex
	current *process
	stopped bool
	// gate keeps the next process from starting until it is closed; nil when it may start.
	gate chan struct{}
	// finished is closed when no process is left and none will follow.
	finished chan struct{}
}

// process is one run of a scheduler.
type process struct {
	command *exec.Cmd
	// ended is closed when the process is gone.
	ended chan struct{}
}

// setting changes the configuration of a scheduler before it starts.
type setting func(t *testing.T, config map[string]any)

// through has a scheduler reach the API server by a kubeconfig.
func through(kubeconfig string) setting {
	return func(t *testing.T, config map[string]any) {
		set(t, config, kubeconfig, "clientConnection", "kubeconfig")
	}
}

func set(t *testing.T, config map[string]any, value any, fields ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(config, value, fields...); err != nil {
		t.Fatal(err)
	}
}

// profileOf is the only profile of a configuration.
func profileOf(t *testing.T, config map[string]any) map[string]any {
	t.Helper()
	profiles, _ := config["profiles"].([]any)
	if len(profiles) != 1 {
		t.Fatalf("the configuration has %d profiles, want 1", len(profiles))
	}
	profile, ok := profiles[0].(map[string]any)
	if !ok {
		t.Fatalf("the profile is a %T", profiles[0])
	}
	return profile
}

// startScheduler starts a scheduler, which ends with the test.
func startScheduler(t *testing.T, name string, settings ...setting) *scheduler {
	t.Helper()
	dir := t.TempDir()
	s := &scheduler{name: name, config: filepath.Join(dir, "config.yaml"), diagnostics: freeport.Next(t), finished: make(chan struct{})}
	writeSchedulerConfig(t, s.config, name, append([]setting{through(administratorFile())}, settings...))
	var err error
	if s.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	first, err := s.start()
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		defer close(s.finished)
		failed <- s.keep(first)
	}()
	t.Cleanup(func() {
		s.end()
		if err := <-failed; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the log of scheduler %s, without what is usual, ends:\n%s", s.name, s.tail())
		}
		_ = s.log.Close() // written by others
	})
	return s
}

// start starts a process.
func (s *scheduler) start() (*process, error) {
	p := &process{ended: make(chan struct{})}
	p.command = exec.Command(shared.Program("koord-scheduler"), "--config="+s.config, "--secure-port=0",
		"--authentication-kubeconfig="+administratorFile(), "--authorization-kubeconfig="+administratorFile(),
		"--diagnostics-bind-address=127.0.0.1", fmt.Sprintf("--diagnostics-port=%d", s.diagnostics))
	p.command.Stdout, p.command.Stderr = s.log, s.log
	s.mutex.Lock()
	gate := s.gate
	s.mutex.Unlock()
	if gate != nil {
		<-gate
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.stopped {
		return nil, nil
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start scheduler %s: %w", s.name, err)
	}
	s.current = p
	return p, nil
}

// keep waits for the process to end, and starts another one, until the scheduler is stopped.
func (s *scheduler) keep(p *process) (err error) {
	for p != nil {
		_ = p.command.Wait() // how it ended is in its state
		close(p.ended)
		if p, err = s.start(); err != nil {
			return err
		}
	}
	return nil
}

// process is the present one.
func (s *scheduler) process() *process {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.current
}

// signal sends a signal to a process that runs.
func (p *process) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(signal); err != nil {
		t.Fatalf("%s to a scheduler: %v", signal, err)
	}
}

// kill ends the process as a machine that fails does. Another one follows.
func (s *scheduler) kill(t *testing.T) {
	t.Helper()
	s.terminate(t, syscall.SIGKILL)
}

// terminate ends the process with a signal. Another one follows.
func (s *scheduler) terminate(t *testing.T, signal syscall.Signal) {
	t.Helper()
	p := s.process()
	p.signal(t, signal)
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("scheduler %s has not ended after %s", s.name, signal)
	}
}

// down ends the scheduler as terminate does. Another process follows when the function that it returns is called, or the test
// ends.
func (s *scheduler) down(t *testing.T, signal syscall.Signal) (up func()) {
	t.Helper()
	gate := make(chan struct{})
	s.mutex.Lock()
	s.gate = gate
	s.mutex.Unlock()
	up = sync.OnceFunc(func() {
		s.mutex.Lock()
		s.gate = nil
		s.mutex.Unlock()
		close(gate)
	})
	t.Cleanup(up)
	s.terminate(t, signal)
	return up
}

// end kills the process, and lets none follow.
func (s *scheduler) end() {
	s.mutex.Lock()
	s.stopped = true
	s.mutex.Unlock()
	_ = s.process().command.Process.Kill() // it may have ended
	<-s.finished
}

func (s *scheduler) tail() []byte {
	const keep = 3000
	data, err := os.ReadFile(s.log.Name())
	if err != nil {
		return []byte(err.Error())
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	kept := slices.DeleteFunc(lines, func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("I")) && !bytes.Contains(line, []byte("lease"))
	})
	data = bytes.Join(kept, nil)
	return data[max(0, len(data)-keep):]
}

// administratorFile is a kubeconfig of the administrator.
func administratorFile() string { return filepath.Join(shared.Directory(), "kubeconfig") }

func writeSchedulerConfig(t *testing.T, file, name string, settings []setting) {
	t.Helper()
	data, err := os.ReadFile(component.SchedulerConfigFile(state.At(shared.Directory())))
	if err != nil {
		t.Fatal(err)
	}
	config := map[string]any{}
	if err := yaml.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	profileOf(t, config)["schedulerName"] = name
	for field, value := range map[string]string{
		"resourceName": name, "leaseDuration": leaseDuration, "renewDeadline": renewDeadline, "retryPeriod": retryPeriod,
	} {
		set(t, config, value, "leaderElection", field)
	}
	for _, change := range settings {
		change(t, config)
	}
	if data, err = yaml.Marshal(config); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// explain asks the scheduler itself why a pod is where it is, with up to 100 nodes in each group.
func (s *scheduler) explain(ctx context.Context, namespace, pod string) (*diagnosticsv1alpha1.PodExplanation, error) {
	config, err := shared.Config()
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(config.CertData, config.KeyData)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, InsecureSkipVerify: true}} // self-signed
	defer transport.CloseIdleConnections()
	question := diagnosticsv1alpha1.PodExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
		Spec:       diagnosticsv1alpha1.PodExplanationSpec{PodName: pod, MaxNodes: new(int32(100)), SkipFix: true},
	}
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("https://127.0.0.1:%d/explain/pod", s.diagnostics), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := (&http.Client{Transport: transport, Timeout: 30 * time.Second}).Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // read to its end or given up
	answer := &diagnosticsv1alpha1.PodExplanation{}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("explain pod %s/%s: %s", namespace, pod, response.Status)
	}
	return answer, nil
}

// places gives pods to the scheduler.
func (s *scheduler) places(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.SchedulerName = s.name
	return pod
}

// administrator is a client configuration whose certificate and key are loaded.
func administrator(t *testing.T) *rest.Config {
	t.Helper()
	config, err := shared.Config()
	if err != nil {
		t.Fatal(err)
	}
	return config
}
