package install

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// mostNamed bounds the nodes that one finding names; the others are counted.
const mostNamed = 3

// enforcementTable returns the NodeMetrics as the columns that their definition prints: whether each agent enforces, without what it
// measured, which of 5,000 nodes is 200 MB.
func enforcementTable(client rest.Interface) func(context.Context) (*metav1.Table, error) {
	return func(ctx context.Context) (*metav1.Table, error) {
		result := client.Get().AbsPath("apis", slov1alpha1.GroupVersion.Group, slov1alpha1.GroupVersion.Version, "nodemetrics").
			Param("resourceVersion", "0").Param("includeObject", string(metav1.IncludeNone)).
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(ctx)
		if err := result.Error(); err != nil {
			return nil, err // as the server says it; Raw does not read the body of an error
		}
		text, err := result.Raw()
		if err != nil {
			return nil, err
		}
		table := &metav1.Table{}
		if err := json.Unmarshal(text, table); err != nil {
			return nil, fmt.Errorf("read the columns of the NodeMetrics: %w", err)
		}
		return table, nil
	}
}

// collectEnforcement looks which agents cannot limit best-effort pods. Nodes of one reason are one finding.
func (c *collector) collectEnforcement(ctx context.Context) error {
	state := &c.status.Enforcement
	table, err := c.enforcement(ctx)
	switch {
	case apierrors.IsNotFound(err):
		state.State = StateAbsent
		return nil
	case c.unseen(err):
		state.State = StateUnknown
		return nil
	case err != nil:
		return fmt.Errorf("list the NodeMetrics: %w", err)
	}
	failing := map[string][]string{}
	for _, row := range table.Rows {
		switch node, status := cell(table, row, "Name"), cell(table, row, slov1alpha1.NodeMetricEnforcing); metav1.ConditionStatus(status) {
		case metav1.ConditionTrue:
			state.Enforcing++
		case metav1.ConditionFalse:
			reason := cell(table, row, "Reason")
			failing[reason] = append(failing[reason], node)
		default:
			state.Silent++
		}
	}
	state.Nodes, state.State = new(len(table.Rows)), StateReady
	switch {
	case len(failing) > 0:
		state.State = StateDegraded
	case len(table.Rows) == 0:
		state.State = StateAbsent
	case state.Silent == len(table.Rows):
		state.State = StateUnknown
	}
	for _, reason := range slices.Sorted(maps.Keys(failing)) {
		c.status.Findings = append(c.status.Findings, notEnforcing(reason, failing[reason]))
	}
	return nil
}

// cell is what a row has in a column; empty where it has none.
func cell(table *metav1.Table, row metav1.TableRow, column string) string {
	i := slices.IndexFunc(table.ColumnDefinitions, func(d metav1.TableColumnDefinition) bool { return d.Name == column })
	if i < 0 || i >= len(row.Cells) {
		return ""
	}
	value, _ := row.Cells[i].(string)
	return value
}

// notEnforcing is the finding for nodes whose agents do not enforce for one reason. That they are configured so is a warning.
func notEnforcing(reason string, nodes []string) diagnosticsv1alpha1.Finding {
	slices.Sort(nodes)
	named := strings.Join(nodes[:min(len(nodes), mostNamed)], ", ")
	if more := len(nodes) - mostNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	out := diagnosticsv1alpha1.Finding{
		Code: string(finding.AgentNotEnforcing), Severity: diagnosticsv1alpha1.SeverityError,
		Message: fmt.Sprintf("koordlet cannot limit best-effort pods on %s (%s): no batch or mid resources are offered there", named, reason),
		Hint:    "koordctl explain node " + nodes[0] + " features", Object: &diagnosticsv1alpha1.SourceRef{Kind: "NodeMetric", Name: nodes[0], Field: "status.conditions"},
	}
	if reason == slov1alpha1.ReasonReadOnly {
		out.Severity = diagnosticsv1alpha1.SeverityWarning
	}
	return out
}
