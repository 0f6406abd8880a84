package component

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/state"
)

// SimulatedNodeLabel marks the nodes that the sandbox made and simulates.
const SimulatedNodeLabel = "simulation.koordinator.sh/node"

// SchedulerCertSecret is the Secret that the manager issues the scheduler's serving certificate into.
const SchedulerCertSecret = pki.Namespace + "/koord-scheduler-serving"

// DeschedulerCertSecret is the Secret that the manager issues the descheduler's serving certificate into.
const DeschedulerCertSecret = pki.Namespace + "/koord-descheduler-serving"

func (p Plan) manager() Component {
	return Component{
		Name:    Manager,
		Program: p.program(Manager),
		Args: []string{
			"--kubeconfig=" + p.kubeconfig(Manager),
			"--leader-elect=true",
			fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", p.Ports.ManagerMetrics),
			fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", p.Ports.ManagerHealth),
			fmt.Sprintf("--diagnostics-port=%d", p.Ports.ManagerDiagnostics),
			"--diagnostics-bind-address=127.0.0.1",
			fmt.Sprintf("--webhook-port=%d", p.Ports.ManagerWebhooks),
			fmt.Sprintf("--webhook-service-port=%d", p.Ports.ManagerWebhooks),
			"--webhook-bind-address=127.0.0.1",
			"--authenticate-webhook-clients=true",
			// One agent works for all nodes.
			"--restrict-agents=false",
			"--agent-host=127.0.0.1",
			"--scheduler-endpoint=" + loopbackURL(p.Ports.SchedulerDiagnostics, ""),
		},
		Env:   memory(thrifty, "1GiB"),
		Ready: Probe{URL: fmt.Sprintf("http://127.0.0.1:%d/readyz", p.Ports.ManagerHealth)},
	}
}

// SchedulerConfigFile is the scheduler's configuration, as the chart installed it.
func SchedulerConfigFile(dir state.Dir) string {
	return filepath.Join(dir.Config(), "koord-scheduler.yaml")
}

func (p Plan) scheduler() Component {
	config := p.kubeconfig(Scheduler)
	return Component{
		Name:    Scheduler,
		Program: p.program(Scheduler),
		Args: []string{
			"--config=" + SchedulerConfigFile(p.Dir),
			"--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config,
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.Ports.Scheduler),
			"--diagnostics-bind-address=127.0.0.1", fmt.Sprintf("--diagnostics-port=%d", p.Ports.SchedulerDiagnostics),
			"--diagnostics-cert-secret=" + SchedulerCertSecret,
		},
		Env:   memory(thrifty, "1GiB"),
		Ready: Probe{URL: loopbackURL(p.Ports.Scheduler, "/readyz"), Client: p.Bundle.Client("admin")},
	}
}

// DeschedulerConfigFile is the configuration of the descheduler, as the chart installed it.
func DeschedulerConfigFile(dir state.Dir) string {
	return filepath.Join(dir.Config(), "koord-descheduler.yaml")
}

func (p Plan) descheduler() Component {
	return Component{
		Name:    Descheduler,
		Program: p.program(Descheduler),
		Args: []string{
			"--config=" + DeschedulerConfigFile(p.Dir),
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.Ports.Descheduler),
			"--cert-secret=" + DeschedulerCertSecret,
			"--scheduler-endpoint=" + loopbackURL(p.Ports.SchedulerDiagnostics, ""),
		},
		Env:   memory(thrifty, "1GiB"),
		Ready: Probe{URL: loopbackURL(p.Ports.Descheduler, "/readyz"), Client: p.Bundle.Client("admin")},
	}
}

// Small sandboxes report often: a person who looks at one should not wait for minutes until a change shows, and a large
// one has enough to do with the chart's own report a minute.
const (
	// smallSandbox is the largest number of nodes that report often.
	smallSandbox = 100
	// SmallReportInterval is how often they do, which is more often than a koordlet's own minimum of 30 seconds.
	SmallReportInterval = 15 * time.Second
	// SmallAggregateDuration is what their reports are averaged over.
	SmallAggregateDuration = time.Minute
	// LargeReportInterval and LargeAggregateDuration are the chart's own.
	LargeReportInterval    = time.Minute
	LargeAggregateDuration = 5 * time.Minute
)

// ReportsOften reports whether a sandbox is small enough for its koordlets to report often.
func ReportsOften(spec state.Spec) bool { return spec.Nodes <= smallSandbox }

func (p Plan) koordlets() Component {
	args := []string{
		"--kubeconfig=" + p.kubeconfig("koordlet"),
		"--seed=" + strconv.FormatUint(p.Spec.Seed, 10),
		"--speed=" + strconv.FormatFloat(p.Spec.Speed, 'g', -1, 64),
	}
	if ReportsOften(p.Spec) {
		args = append(args, "--report-interval="+SmallReportInterval.String())
	}
	if p.Spec.Trace != "" {
		args = append(args, "--trace="+p.Spec.Trace)
	}
	return Component{Name: Koordlets, Args: args, Env: memory(thrifty, "1GiB")}
}
