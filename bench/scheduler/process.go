package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/client-go/rest"
)

// scheduler is a program to measure.
type scheduler struct {
	name, program string
	// asks is the schedulerName of its pods.
	asks string
	// ours understands the workloads that need this project's plugins.
	ours bool
}

// process is a running scheduler.
type process struct {
	scheduler
	cmd *exec.Cmd
	log string
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
func (s scheduler) start(ctx context.Context, home, kubeconfig string) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	running := &process{scheduler: s, port: port, log: filepath.Join(home, s.name+".log")}
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
	log, err := os.Create(running.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child has its own
	running.cmd = exec.CommandContext(ctx, s.program, args...)
	running.cmd.Stdout, running.cmd.Stderr = log, log
	if err := running.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.name, err)
	}
	return running, nil
}

func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	_ = p.cmd.Wait() // killed by a signal is how it should end
	return nil
}

// cpu is the processor time used so far.
func (p *process) cpu() (time.Duration, error) {
	stat, err := p.proc(func(proc procfs.Proc) (float64, error) {
		stat, err := proc.Stat()
		return stat.CPUTime(), err
	})
	return time.Duration(stat * float64(time.Second)), err
}

// peakMiB is the largest resident set so far.
func (p *process) peakMiB() (float64, error) {
	return p.proc(func(proc procfs.Proc) (float64, error) {
		status, err := proc.NewStatus()
		return float64(status.VmHWM) / (1 << 20), err
	})
}

func (p *process) proc(read func(procfs.Proc) (float64, error)) (float64, error) {
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return 0, fmt.Errorf("read the process of %s: %w\n%s", p.name, err, p.tail())
	}
	return read(proc)
}

// tail is the end of the log, for errors.
func (p *process) tail() string {
	const keep = 3000
	data, err := os.ReadFile(p.log)
	if err != nil {
		return ""
	}
	return string(data[max(0, len(data)-keep):])
}

// freePort finds a port on loopback that nothing listens on.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }() // nothing was accepted
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// profile asks the scheduler for a CPU profile of the given length and writes it to a file.
func (p *process) profile(ctx context.Context, config *rest.Config, seconds int, file string) error {
	asked := rest.CopyConfig(config)
	asked.Host = fmt.Sprintf("https://127.0.0.1:%d", p.port)
	asked.Insecure, asked.CAData, asked.CAFile, asked.ServerName = true, nil, "", "" // the certificate is self-signed
	client, err := rest.HTTPClientFor(asked)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", asked.Host, seconds), nil)
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
