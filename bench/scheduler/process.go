package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"

	"koordinator.sh/koord/bench/process"
)

// scheduler is a program to measure.
type scheduler struct {
	name, program string
	// asks is the schedulerName of its pods.
	asks string
	// ours understands the workloads that need this project's plugins.
	ours bool
}

// schedulerProcess is a scheduler that runs.
type schedulerProcess struct {
	scheduler
	*process.Process
	// port of the secure server, which serves profiles.
	port int
}

// configuration differs between schedulers only in the profiles: nil is the scheduler's own default.
const configuration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %q, qps: 5000, burst: 5000, contentType: application/vnd.kubernetes.protobuf}
`

// start runs the scheduler with its shipped profile, without leader election and without a limit on its requests.
func (s scheduler) start(ctx context.Context, home, kubeconfig string) (*schedulerProcess, error) {
	port, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	args := []string{"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig, "--v=0", fmt.Sprintf("--secure-port=%d", port)}
	if s.ours {
		args = append(args, "--kubeconfig="+kubeconfig, "--leader-elect=false", "--kube-api-qps=5000", "--kube-api-burst=5000", "--diagnostics-port=0")
	} else {
		file := filepath.Join(home, s.name+".yaml")
		if err := os.WriteFile(file, fmt.Appendf(nil, configuration, kubeconfig), 0o600); err != nil {
			return nil, err
		}
		args = append(args, "--config="+file)
	}
	started, err := process.Start(ctx, s.name, filepath.Join(home, s.name+".log"), s.program, args...)
	if err != nil {
		return nil, err
	}
	return &schedulerProcess{scheduler: s, Process: started, port: port}, nil
}

// profile asks the scheduler for a profile, such as "profile?seconds=6" for one of its CPU, and writes it to a file.
func (p *schedulerProcess) profile(ctx context.Context, config *rest.Config, which, file string) error {
	asked := rest.CopyConfig(config)
	asked.Host = fmt.Sprintf("https://127.0.0.1:%d", p.port)
	asked.Insecure, asked.CAData, asked.CAFile, asked.ServerName = true, nil, "", "" // the certificate is self-signed
	client, err := rest.HTTPClientFor(asked)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, asked.Host+"/debug/pprof/"+which, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return errors.Join(err, fmt.Errorf("profile %s: %s", p.name, response.Status))
	}
	return os.WriteFile(file, data, 0o644)
}
