package install

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/finding"
)

// leading is a component whose replicas take turns in leading, and the lease by which they agree.
type leading struct {
	name, lease string
	// optional is true for a component that is reported only where it has a workload or a lease.
	optional bool
	// down is the finding of a component that does not run, and effect what that means.
	down   finding.Code
	effect string
}

const managerName = "koord-manager"

var components = []leading{
	{name: managerName, lease: "koordinator-manager", down: finding.ManagerUnavailable, effect: "batch and mid resources and NodeSLOs are not updated"},
	{name: "koord-scheduler", lease: "koord-scheduler", down: finding.SchedulerUnavailable, effect: "its pods stay pending"},
	{name: "koord-descheduler", lease: "koord-descheduler", optional: true, down: finding.DeschedulerUnavailable,
		effect: "nodes are not rebalanced and PodMigrationJobs do not progress"},
	{name: "koord-bridge", lease: "koord-bridge", optional: true, down: finding.BridgeUnavailable,
		effect: "schedulers outside of Kubernetes keep what they have, also where services or pods need it"},
}

func (c *collector) collectComponents(ctx context.Context) error {
	for _, component := range components {
		status := ComponentStatus{Name: component.name}
		seen, err := c.collectDeployment(ctx, &status)
		if err != nil {
			return err
		}
		lease, leaseSeen, err := c.lease(ctx, component.lease)
		if err != nil {
			return err
		}
		if component.optional && seen && leaseSeen && status.Workload == "" && lease == nil {
			continue
		}
		leads := lease != nil && c.held(lease)
		if leads {
			status.Leader, status.RenewedAt = *lease.Spec.HolderIdentity, lease.Spec.RenewTime
		}
		c.judge(&status, component, leads, seen && leaseSeen)
		c.status.Components = append(c.status.Components, status)
	}
	return c.collectAgent(ctx)
}

// judge turns what was seen of a component into its state. That there is no leader is known only when both workload and lease may
// be read.
func (c *collector) judge(status *ComponentStatus, component leading, leads, seen bool) {
	switch {
	case !seen && !leads:
		status.State = StateUnknown
		return
	case !leads && status.Workload == "":
		status.State, status.Detail = StateAbsent, "no workload, and no lease is held"
	case !leads:
		status.State, status.Detail = StateDown, "no replica leads"
	case status.Workload == "" && !seen:
		status.State = StateReady // where it runs is not known
	case status.Workload == "":
		status.State, status.Detail = StateReady, "runs outside the cluster"
	case *status.Ready < *status.Desired:
		status.State = StateDegraded
	default:
		status.State = StateReady
	}
	if !leads {
		objects := component.name
		if component.lease != component.name {
			objects += " " + component.lease
		}
		c.find(component.down, component.name+" is not running: "+component.effect, "kubectl -n "+c.status.Namespace+" get deployment,lease "+objects)
	}
}

// collectDeployment fills in the workload; it is false when workloads may not be read.
func (c *collector) collectDeployment(ctx context.Context, status *ComponentStatus) (bool, error) {
	c.part = PartDeployments
	deployment, err := c.client.AppsV1().Deployments(c.status.Namespace).Get(ctx, status.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case c.unseen(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("get deployment %q: %w", status.Name, err)
	}
	c.objects.Deployments = append(c.objects.Deployments, *deployment)
	status.Workload, status.Ready, status.Desired = "Deployment", &deployment.Status.ReadyReplicas, new(int32(1))
	if deployment.Spec.Replicas != nil {
		status.Desired = deployment.Spec.Replicas
	}
	return true, nil
}

// lease is nil when there is none; it is false when leases may not be read.
func (c *collector) lease(ctx context.Context, name string) (*coordinationv1.Lease, bool, error) {
	c.part = PartLeases
	lease, err := c.client.CoordinationV1().Leases(c.status.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, true, nil
	case c.unseen(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("get lease %q: %w", name, err)
	}
	return lease, true, nil
}

// held is true while a leader renews its lease in time.
func (c *collector) held(lease *coordinationv1.Lease) bool {
	spec := lease.Spec
	if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return false
	}
	return c.clock.Since(spec.RenewTime.Time) < time.Duration(*spec.LeaseDurationSeconds)*time.Second
}

// collectAgent reports koordlet where a DaemonSet runs it.
func (c *collector) collectAgent(ctx context.Context) error {
	c.part = PartDaemonSets
	daemon, err := c.client.AppsV1().DaemonSets(c.status.Namespace).Get(ctx, "koordlet", metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case c.unseen(err):
		c.status.Components = append(c.status.Components, ComponentStatus{Name: "koordlet", State: StateUnknown})
		return nil
	case err != nil:
		return fmt.Errorf("get daemonset %q: %w", "koordlet", err)
	}
	c.objects.DaemonSets = append(c.objects.DaemonSets, *daemon)
	ready, desired := daemon.Status.NumberReady, daemon.Status.DesiredNumberScheduled
	status := ComponentStatus{Name: "koordlet", Workload: "DaemonSet", Ready: &ready, Desired: &desired, State: StateReady}
	switch {
	case ready == 0 && desired > 0:
		status.State = StateDown
		c.find(finding.AgentUnavailable, "koordlet runs on no node: nothing is measured and no pod is suppressed or evicted", "kubectl -n "+c.status.Namespace+" get daemonset koordlet")
	case ready < desired:
		status.State = StateDegraded
	}
	c.status.Components = append(c.status.Components, status)
	return nil
}
