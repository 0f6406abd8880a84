package install

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/admission/protection"
	"koordinator.sh/koord/deploy/release"
)

// newProtections turns one protection on.
func newProtections() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: meta(protection.ConfigMapName), Data: map[string]string{
		protection.Binding + ".koordlet-own-node": `{"policyName":"koordlet-own-node","validationActions":["Deny"]}`,
	}}
}

// newBinding is that one.
func newBinding(action string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": protection.Binding, "metadata": map[string]any{"name": "koordlet-own-node"},
		"spec": map[string]any{"policyName": "koordlet-own-node", "validationActions": []any{action}},
	}}
}

var bindings = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"}

// columns of a NodeMetric, with the rows NAME, status and reason.
func columns(rows ...[3]any) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name"}, {Name: "CPU"}, {Name: "Enforcing"}, {Name: "Reason", Priority: 1}}}
	for _, row := range rows {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{row[0], "1", row[1], row[2]}})
	}
	return table
}

func nodesOf(status string, names ...string) func(context.Context) (*metav1.Table, error) {
	var rows [][3]any
	for _, name := range names {
		rows = append(rows, [3]any{name, status, status})
	}
	return func(context.Context) (*metav1.Table, error) { return columns(rows...), nil }
}

func forbidden(resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no right"))
}

// told are codes and severities of findings.
func told(status *InstallationStatus) []string {
	var out []string
	for _, found := range status.Findings {
		if found.Code >= "KOORD0302" && found.Code <= "KOORD0304" {
			out = append(out, found.Code+" "+string(found.Severity)+" "+found.Message)
		}
	}
	return out
}

func TestProtectionsThatAreOffAreFindings(t *testing.T) {
	const lost = ". Without it the token of one node's koordlet can write the NodeMetrics, topologies and devices of all nodes. Chart value koordlet.restrictToOwnNode disables it"
	tests := map[string]struct {
		change    func(*collector)
		wantState State
		wantTold  []string
	}{
		"in force": {func(*collector) {}, StateReady, nil},
		"deleted": {func(c *collector) {
			_ = c.dynamic.Resource(bindings).Delete(t.Context(), "koordlet-own-node", metav1.DeleteOptions{}) // the fake always can
		}, StateDegraded, []string{`KOORD0303 error ValidatingAdmissionPolicyBinding "koordlet-own-node" does not exist` + lost}},
		"weakened": {func(c *collector) {
			_, _ = c.dynamic.Resource(bindings).Update(t.Context(), newBinding("Audit"), metav1.UpdateOptions{}) // the fake always can
		}, StateDegraded, []string{`KOORD0304 error ValidatingAdmissionPolicyBinding "koordlet-own-node" was changed after it was installed: spec.validationActions[0] is Audit instead of Deny` + lost}},
		"turned off": {func(c *collector) {
			config := newProtections()
			config.Data = nil
			_, _ = c.client.CoreV1().ConfigMaps(release.DefaultNamespace).Update(t.Context(), config, metav1.UpdateOptions{}) // the fake always can
			_ = c.dynamic.Resource(bindings).Delete(t.Context(), "koordlet-own-node", metav1.DeleteOptions{})                 // likewise
		}, StateReady, nil},
		"the list is gone": {func(c *collector) {
			_ = c.client.CoreV1().ConfigMaps(release.DefaultNamespace).Delete(t.Context(), protection.ConfigMapName, metav1.DeleteOptions{}) // the fake always can
		}, StateUnknown, []string{`KOORD0303 warning configmap "koordinator-protections" does not exist in namespace "koordinator-system": which protections are turned on is unknown`}},
		"a user who may not read them": {func(c *collector) {
			c.dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("get", bindings.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, forbidden(bindings.Resource)
			})
		}, StateUnknown, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, _ := newTestCollector([]runtime.Object{newConfig(`{"enable":true}`)}, allDefinitions(t), released("deployed"))
			tc.change(c)
			status, err := c.collect(t.Context(), release.DefaultNamespace)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.wantTold, told(status)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if status.Protections.State != tc.wantState || (status.Protections.InForce == nil) != (tc.wantState == StateUnknown) {
				t.Errorf("protections %+v, want %s", status.Protections, tc.wantState)
			}
			if seen := len(status.Incomplete) == 0; seen != (name != "a user who may not read them") {
				t.Errorf("incomplete: %q", status.Incomplete)
			}
		})
	}
}

func TestAgentsThatDoNotEnforceAreFindings(t *testing.T) {
	const offered = ": no batch or mid resources are offered there"
	full := func(name string) [3]any { return [3]any{name, "False", slov1alpha1.ReasonOriginalsNotSaved} }
	tests := map[string]struct {
		table    *metav1.Table
		err      error
		want     EnforcementStatus
		wantTold []string
	}{
		"all enforce": {columns([3]any{"a", "True", "Enforcing"}), nil, EnforcementStatus{State: StateReady, Nodes: new(1), Enforcing: 1}, nil},
		"one does not": {columns([3]any{"a", "True", "Enforcing"}, full("b")), nil, EnforcementStatus{State: StateDegraded, Nodes: new(2), Enforcing: 1},
			[]string{"KOORD0302 error koordlet cannot limit best-effort pods on b (OriginalsNotSaved)" + offered}},
		"many do not, for two reasons": {columns(full("e"), full("d"), full("c"), full("b"), full("a"), [3]any{"f", "False", slov1alpha1.ReasonReadOnly}), nil,
			EnforcementStatus{State: StateDegraded, Nodes: new(6)}, []string{
				"KOORD0302 error koordlet cannot limit best-effort pods on a, b, c and 2 more (OriginalsNotSaved)" + offered,
				"KOORD0302 warning koordlet cannot limit best-effort pods on f (ReadOnly)" + offered,
			}},
		"some agents do not tell":             {columns([3]any{"a", "True", "Enforcing"}, [3]any{"b", nil, nil}), nil, EnforcementStatus{State: StateReady, Nodes: new(2), Enforcing: 1, Silent: 1}, nil},
		"no agent tells":                      {columns([3]any{"b", nil, nil}), nil, EnforcementStatus{State: StateUnknown, Nodes: new(1), Silent: 1}, nil},
		"the definition has no such column":   {&metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name"}}, Rows: []metav1.TableRow{{Cells: []any{"a"}}}}, nil, EnforcementStatus{State: StateUnknown, Nodes: new(1), Silent: 1}, nil},
		"no NodeMetrics":                      {columns(), nil, EnforcementStatus{State: StateAbsent, Nodes: new(0)}, nil},
		"no definition":                       {nil, apierrors.NewNotFound(schema.GroupResource{}, ""), EnforcementStatus{State: StateAbsent}, nil},
		"a user who may not read NodeMetrics": {nil, forbidden("nodemetrics"), EnforcementStatus{State: StateUnknown}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, _ := newTestCollector([]runtime.Object{newConfig(`{"enable":true}`)}, allDefinitions(t), released("deployed"))
			c.enforcement = func(context.Context) (*metav1.Table, error) { return tc.table, tc.err }
			status, err := c.collect(t.Context(), release.DefaultNamespace)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, status.Enforcement); diff != "" {
				t.Errorf("enforcement (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantTold, told(status)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if seen := len(status.Incomplete) == 0; seen != !apierrors.IsForbidden(tc.err) {
				t.Errorf("incomplete: %q", status.Incomplete)
			}
		})
	}
}
