package install

import (
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// writeStatus prints one row a part.
func writeStatus(w io.Writer, status *InstallationStatus, now time.Time, noHeaders bool) error {
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string"}, {Name: "State", Type: "string"}, {Name: "Ready", Type: "string"}, {Name: "Detail", Type: "string"},
	}}
	add := func(name string, state State, ready, detail string) {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{name, string(state), orNone(ready), orNone(detail)}})
	}
	add(releaseRow(status, now))
	for i := range status.Components {
		add(componentRow(&status.Components[i], now))
	}
	add("apiservice/"+status.API.Name, status.API.State, "", status.API.Detail)
	add("customresourcedefinitions", status.Definitions.State,
		fmt.Sprintf("%d/%d", status.Definitions.Established, status.Definitions.Expected), missing(status.Definitions.Missing))
	add("configmap/"+status.Config.Name, status.Config.State, "", configDetail(status.Config))
	return printers.NewTablePrinter(printers.PrintOptions{NoHeaders: noHeaders}).PrintObj(table, w)
}

func orNone(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
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
	return "release/" + release.Name, status.ReleaseState, "", fmt.Sprintf("revision %d %s %s ago, chart %s",
		release.Revision, release.Status, duration.HumanDuration(now.Sub(release.Updated.Time)), release.ChartVersion)
}

func componentRow(c *ComponentStatus, now time.Time) (string, State, string, string) {
	ready := ""
	if c.Workload != "" {
		ready = fmt.Sprintf("%d/%d", c.Ready, c.Desired)
	}
	var details []string
	if c.Detail != "" {
		details = append(details, c.Detail)
	}
	if c.Leader != "" {
		leader := "led by " + c.Leader
		if c.RenewedAt != nil {
			leader += ", renewed " + duration.HumanDuration(now.Sub(c.RenewedAt.Time)) + " ago"
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
		return ""
	}
	var details []string
	switch {
	case config.State == StateDegraded:
		details = append(details, "keys that cannot be used keep their last good text")
	case config.Colocation:
		details = append(details, "co-location enabled")
	default:
		details = append(details, "co-location disabled")
	}
	if config.Problems > 0 {
		details = append(details, fmt.Sprintf("problems: %d", config.Problems))
	}
	return strings.Join(details, "; ")
}

// writeFindings prints what is wrong, with the next command to run.
func writeFindings(w io.Writer, findings []diagnosticsv1alpha1.Finding) {
	for _, f := range findings {
		fmt.Fprintf(w, "%s %s: %s\n", f.Code, f.Severity, f.Message)
		if f.Hint != "" {
			fmt.Fprintf(w, "hint: %s\n", f.Hint)
		}
	}
}
