package cluster

import (
	"context"
	"fmt"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/state"
)

// InstallCRDs applies the custom resource definitions alone.
func (c *Cluster) InstallCRDs(ctx context.Context, _ func(string)) error {
	_, err := release.ApplyCRDs(ctx, c.getter(), false)
	return err
}

// InstallSystem installs the system as `koordctl install` does, with the workloads switched off: the supervisor runs
// those processes, and the services lead to it on loopback.
func (c *Cluster) InstallSystem(ctx context.Context, spec state.Spec, ports state.Ports) error {
	_, err := release.Install(ctx, c.getter(), release.Options{
		Values: values(spec, ports),
		// The sandbox's lock makes this the only installer, so what is pending was left by a crash.
		PendingGrace: -1,
	})
	if err != nil {
		return fmt.Errorf("install the chart: %w", err)
	}
	return nil
}

func values(spec state.Spec, ports state.Ports) map[string]any {
	// Both are always said: what is left out stays as it was when the sandbox had another size.
	interval, duration := component.LargeReportInterval, component.LargeAggregateDuration
	if component.ReportsOften(spec) {
		interval, duration = component.SmallReportInterval, component.SmallAggregateDuration
	}
	colocation := map[string]any{
		"metricReportIntervalSeconds":    int(interval.Seconds()),
		"metricAggregateDurationSeconds": int(duration.Seconds()),
	}
	manager := loopbackService(ports.ManagerDiagnostics)
	manager["webhookPort"] = ports.ManagerWebhooks
	return map[string]any{
		"workloads": map[string]any{"enabled": false},
		"manager":   map[string]any{"service": manager},
		"scheduler": map[string]any{"service": loopbackService(ports.SchedulerDiagnostics)},
		// One process reports for all nodes, so it cannot be held to one.
		"koordlet":            map[string]any{"enabled": true, "restrictToOwnNode": false},
		"sloControllerConfig": map[string]any{"data": map[string]any{"colocation-config": colocation}},
	}
}

func loopbackService(port int) map[string]any {
	return map[string]any{"externalName": "localhost", "port": port}
}

func (c *Cluster) getter() genericclioptions.RESTClientGetter {
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &c.kubeconfig
	flags.WithDiscoveryQPS(qps)
	flags.WithDiscoveryBurst(burst)
	return flags
}
