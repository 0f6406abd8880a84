package install

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/kubectl-plugin/printer"
)

// parts are the rows of the status.
func parts(status *InstallationStatus, now time.Time) []printer.Part {
	var rows []printer.Part
	add := func(name string, state State, ready, detail string) {
		rows = append(rows, printer.Part{Name: name, State: string(state), Role: state.role(), Ready: ready, Detail: detail})
	}
	add(kubernetesRow(&status.Kubernetes))
	add(releaseRow(status, now))
	for i := range status.Components {
		add(componentRow(&status.Components[i], now))
	}
	add("apiservice/"+status.API.Name, status.API.State, "", status.API.Detail)
	add("customresourcedefinitions", status.Definitions.State, established(status.Definitions), missing(status.Definitions.Missing))
	add("configmap/"+status.Config.Name, status.Config.State, "", configDetail(status.Config))
	add(protectionsRow(&status.Protections))
	add(enforcementRow(&status.Enforcement))
	return rows
}

func kubernetesRow(k *KubernetesStatus) (string, State, string, string) {
	detail := k.Version
	if k.Detail != "" {
		detail += ", " + k.Detail
	}
	return "kubernetes", k.State, "", detail
}

func protectionsRow(p *ProtectionsStatus) (string, State, string, string) {
	ready := ""
	if p.InForce != nil {
		ready = fmt.Sprintf("%d/%d", *p.InForce, *p.Expected)
	}
	return "admission protections", p.State, ready, p.Detail
}

func enforcementRow(e *EnforcementStatus) (string, State, string, string) {
	const name = "node enforcement"
	if e.Nodes == nil {
		return name, e.State, "", ""
	}
	detail := ""
	switch {
	case *e.Nodes == 0:
		detail = "no NodeMetrics"
	case e.Silent > 0:
		detail = fmt.Sprintf("agents that do not report: %d", e.Silent)
	}
	return name, e.State, fmt.Sprintf("%d/%d", e.Enforcing, *e.Nodes), detail
}

// established is how many of the definitions are; empty when they could not be listed.
func established(definitions DefinitionStatus) string {
	if definitions.Established == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", *definitions.Established, definitions.Expected)
}

// role in which a state is shown.
func (s State) role() printer.Role {
	switch s {
	case StateReady:
		return printer.Good
	case StateDown:
		return printer.Bad
	default:
		return printer.Warn
	}
}

func releaseRow(status *InstallationStatus, now time.Time) (string, State, string, string) {
	release := status.Release
	if release == nil {
		detail := ""
		if status.ReleaseState == StateAbsent {
			detail = "no Helm release in namespace " + status.Namespace
		}
		return "release", status.ReleaseState, "", detail
	}
	return "release/" + release.Name, status.ReleaseState, "", fmt.Sprintf("revision %d %s %s, chart %s",
		release.Revision, release.Status, printer.Ago(now, &release.Updated), release.ChartVersion)
}

func componentRow(c *ComponentStatus, now time.Time) (string, State, string, string) {
	ready := ""
	if c.Workload != "" {
		ready = fmt.Sprintf("%d/%d", *c.Ready, *c.Desired)
	}
	var details []string
	if c.Detail != "" {
		details = append(details, c.Detail)
	}
	if c.Leader != "" {
		leader := "led by " + c.Leader
		if c.RenewedAt != nil {
			leader += ", renewed " + printer.Ago(now, &metav1.Time{Time: c.RenewedAt.Time})
		}
		details = append(details, leader)
	}
	return c.Name, c.State, ready, strings.Join(details, "; ")
}

func missing(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "missing: " + strings.Join(names, ", ")
}

func configDetail(config ConfigStatus) string {
	if config.State == StateAbsent || config.State == StateUnknown {
		return "" // Colocation and Problems are then not known
	}
	var details []string
	switch {
	case config.State == StateDegraded:
		details = append(details, "keys that cannot be used keep their last valid text")
	case config.Colocation != nil && *config.Colocation:
		details = append(details, "co-location enabled")
	default:
		details = append(details, "co-location disabled")
	}
	if *config.Problems > 0 {
		details = append(details, fmt.Sprintf("problems: %d", *config.Problems))
	}
	return strings.Join(details, "; ")
}
