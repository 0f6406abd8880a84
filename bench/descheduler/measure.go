package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/exposition"
	"koordinator.sh/koord/bench/process"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/state"
)

// Plugins that are measured.
const (
	planner     = "LoadAwareRebalancing"
	lowNodeLoad = "LowNodeLoad"
)

const (
	// warmUp is the passes before those that are measured.
	warmUp = 3
	// interval between the starts of two passes.
	interval = 10 * time.Second
	// patience bounds the wait for passes.
	patience = 10 * time.Minute
)

// figures of one plugin, of each of the measured passes on average.
type figures struct {
	cpu, wall      time.Duration
	evictions      float64
	resident, peak float64
}

// configuration has one plugin. NodeMetrics do not expire, because nothing reports here.
func configuration(plugin string) string {
	args := "nodeMetricExpirationSeconds: 86400"
	if plugin == planner {
		args += "\n          schedulerReview: Never"
	} else {
		args += "\n          lowThresholds: {cpu: 45, memory: 55}\n          highThresholds: {cpu: 75, memory: 80}"
	}
	return fmt.Sprintf(`apiVersion: descheduler/v1alpha2
kind: DeschedulerConfiguration
deschedulingInterval: %s
dryRun: true
profiles:
  - name: bench
    plugins:
      deschedule: {disabled: [{name: "*"}]}
      balance: {enabled: [{name: %s}]}
      evict: {disabled: [{name: "*"}], enabled: [{name: MigrationController}]}
      filter: {disabled: [{name: "*"}], enabled: [{name: MigrationController}]}
    pluginConfig:
      - name: %s
        args:
          apiVersion: descheduler/v1alpha2
          kind: %sArgs
          %s
`, interval, plugin, plugin, plugin, args)
}

// measure runs koord-descheduler with one plugin, with the rights that the chart gives it.
func measure(ctx context.Context, plane *controlplane.ControlPlane, chosen settings, plugin, token string) (out figures, err error) {
	port, err := process.FreePort()
	if err != nil {
		return out, err
	}
	config := filepath.Join(plane.Home, plugin+".yaml")
	if err := os.WriteFile(config, []byte(configuration(plugin)), 0o600); err != nil {
		return out, err
	}
	started, err := process.Start(ctx, "koord-descheduler", filepath.Join(plane.Home, plugin+".log"), chosen.program, "--config="+config,
		"--kubeconfig="+pki.KubeconfigFile(state.At(plane.Sandbox.Directory()), "koord-descheduler"),
		"--leader-elect=false", "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port))
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, started.Stop()) }()
	d := &descheduler{Process: started, metrics: &rest.Config{
		Host: fmt.Sprintf("https://127.0.0.1:%d", port), BearerToken: token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, // it is self-signed
	}}
	before, err := d.after(ctx, warmUp)
	if err != nil {
		return out, err
	}
	now, err := d.after(ctx, before.passes+float64(chosen.passes))
	if err != nil {
		return out, err
	}
	passes := now.passes - before.passes
	out.cpu = time.Duration(float64(now.cpu-before.cpu) / passes)
	out.wall = time.Duration((now.seconds - before.seconds) / passes * float64(time.Second))
	out.evictions = (now.evictions - before.evictions) / passes
	if out.resident, err = d.ProportionalMiB(); err != nil {
		return out, err
	}
	if out.peak, err = d.PeakMiB(); err != nil || chosen.heap == "" {
		return out, err
	}
	return out, d.writeHeap(ctx, filepath.Join(chosen.heap, plugin+".pprof"))
}

// descheduler is a koord-descheduler that runs.
type descheduler struct {
	*process.Process
	metrics *rest.Config
}

// writeHeap writes a profile of the heap.
func (d *descheduler) writeHeap(ctx context.Context, file string) error {
	profile, err := exposition.Fetch(ctx, d.metrics, "/debug/pprof/heap?gc=1")
	if err != nil {
		return err
	}
	return os.WriteFile(file, profile, 0o600)
}

// reading is what it has done so far.
type reading struct {
	cpu                        time.Duration
	passes, seconds, evictions float64
}

// after waits until some passes were completed.
func (d *descheduler) after(ctx context.Context, passes float64) (reading, error) {
	const completed, seconds, evictions = "descheduler_passes_total", "descheduler_loop_duration_seconds_sum", "descheduler_evictions_requested_total"
	var out reading
	var last error
	err := wait.PollUntilContextTimeout(ctx, 2*time.Second, patience, true, func(ctx context.Context) (bool, error) {
		var read exposition.Samples
		if read, last = exposition.Scrape(ctx, d.metrics, completed, seconds, evictions); last != nil {
			return false, nil
		}
		out = reading{passes: read.Sum(completed, "result", "completed"), seconds: read.Sum(seconds), evictions: read.Sum(evictions)}
		if other := read.Sum(completed) - out.passes; other > 0 {
			return false, fmt.Errorf("%.0f passes were not completed", other)
		}
		return out.passes >= passes, nil
	})
	if err == nil {
		out.cpu, err = d.CPU()
	}
	if err != nil {
		return out, fmt.Errorf("wait for %.0f passes: %w\n%s", passes, errors.Join(err, last), d.Tail())
	}
	return out, nil
}
