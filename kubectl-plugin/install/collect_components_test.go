package install

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/evictionbudget"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/messages"
)

func newDaemonSet(ready, desired int32) *appsv1.DaemonSet {
	return &appsv1.DaemonSet{ObjectMeta: meta("koordlet"), Status: appsv1.DaemonSetStatus{NumberReady: ready, DesiredNumberScheduled: desired}}
}

// answers of the API server to reads of a resource, in place of the objects.
func answer(client *fake.Clientset, resource string, err error) {
	for _, verb := range []string{"get", "list"} {
		client.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
	}
}

// componentsOf a cluster with these objects.
func componentsOf(t *testing.T, edit func(*fake.Clientset), objects ...runtime.Object) (*InstallationStatus, error) {
	t.Helper()
	collector, client := newTestCollector(objects, nil, released("deployed"))
	if edit != nil {
		edit(client)
	}
	collector.status = &InstallationStatus{Namespace: release.DefaultNamespace}
	err := collector.collectComponents(t.Context())
	return collector.status, err
}

func TestComponentsAreJudgedByTheirWorkloadAndLease(t *testing.T) {
	const manager, lease = "koord-manager", "koordinator-manager"
	unread := func(resource string) func(*fake.Clientset) {
		return func(c *fake.Clientset) { answer(c, resource, forbidden(resource)) }
	}
	tests := map[string]struct {
		objects              []runtime.Object
		edit                 func(*fake.Clientset)
		wantState            State
		wantDetail, wantLead string
		wantFinding          bool
	}{
		"all replicas are ready and one leads": {objects: []runtime.Object{newDeployment(manager, 2, 2), newLease(lease, "a", time.Second)}, wantState: StateReady, wantLead: "a"},
		"one replica is not":                   {objects: []runtime.Object{newDeployment(manager, 1, 2), newLease(lease, "a", time.Second)}, wantState: StateDegraded, wantLead: "a"},
		"nobody leads":                         {objects: []runtime.Object{newDeployment(manager, 2, 2)}, wantState: StateDown, wantDetail: "no replica leads", wantFinding: true},
		"the lease ran out":                    {objects: []runtime.Object{newDeployment(manager, 2, 2), newLease(lease, "a", 15*time.Second)}, wantState: StateDown, wantDetail: "no replica leads", wantFinding: true},
		"it is about to":                       {objects: []runtime.Object{newDeployment(manager, 2, 2), newLease(lease, "a", 14*time.Second)}, wantState: StateReady, wantLead: "a"},
		"the lease was given up":               {objects: []runtime.Object{newDeployment(manager, 2, 2), newLease(lease, "", time.Second)}, wantState: StateDown, wantDetail: "no replica leads", wantFinding: true},
		"it runs outside":                      {objects: []runtime.Object{newLease(lease, "host_1", time.Second)}, wantState: StateReady, wantDetail: "runs outside the cluster", wantLead: "host_1"},
		"it is not there":                      {wantState: StateAbsent, wantDetail: "no workload, and no lease is held", wantFinding: true},
		"workloads may not be read, one leads": {edit: unread("deployments"), objects: []runtime.Object{newLease(lease, "a", time.Second)}, wantState: StateReady, wantLead: "a"},
		"workloads may not be read":            {edit: unread("deployments"), wantState: StateUnknown},
		"leases may not be read":               {edit: unread("leases"), objects: []runtime.Object{newDeployment(manager, 2, 2)}, wantState: StateUnknown},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status, err := componentsOf(t, tc.edit, tc.objects...)
			if err != nil {
				t.Fatal(err)
			}
			got := status.Components[0]
			if got.Name != manager || got.State != tc.wantState || got.Detail != tc.wantDetail || got.Leader != tc.wantLead {
				t.Errorf("component %+v, want state %s, detail %q, leader %q", got, tc.wantState, tc.wantDetail, tc.wantLead)
			}
			found := slices.ContainsFunc(status.Findings, func(f diagnosticsv1alpha1.Finding) bool { return f.Code == string(finding.ManagerUnavailable) })
			if found != tc.wantFinding {
				t.Errorf("finding %t, want %t: %+v", found, tc.wantFinding, status.Findings)
			}
			if denied := tc.edit != nil; denied != (len(status.Incomplete) > 0) {
				t.Errorf("incomplete %q", status.Incomplete)
			}
		})
	}
}

func TestAgentsAreJudgedByHowManyRun(t *testing.T) {
	tests := map[string]struct {
		daemon      *appsv1.DaemonSet
		edit        func(*fake.Clientset)
		wantState   State
		wantReady   string
		wantFinding bool
	}{
		"on every node":   {newDaemonSet(3, 3), nil, StateReady, "3/3", false},
		"on some":         {newDaemonSet(1, 3), nil, StateDegraded, "1/3", false},
		"on none":         {newDaemonSet(0, 3), nil, StateDown, "0/3", true},
		"without nodes":   {newDaemonSet(0, 0), nil, StateReady, "0/0", false},
		"may not be read": {newDaemonSet(3, 3), func(c *fake.Clientset) { answer(c, "daemonsets", forbidden("daemonsets")) }, StateUnknown, "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status, err := componentsOf(t, tc.edit, tc.daemon)
			if err != nil {
				t.Fatal(err)
			}
			agent := &status.Components[len(status.Components)-1]
			if agent.Name != "koordlet" || agent.State != tc.wantState {
				t.Errorf("agent %+v, want state %s", agent, tc.wantState)
			}
			if _, _, ready, _ := componentRow(agent, now); ready != tc.wantReady {
				t.Errorf("row says %q, want %q", ready, tc.wantReady)
			}
			found := slices.ContainsFunc(status.Findings, func(f diagnosticsv1alpha1.Finding) bool { return f.Code == string(finding.AgentUnavailable) })
			if found != tc.wantFinding {
				t.Errorf("findings %+v", status.Findings)
			}
		})
	}
	status, err := componentsOf(t, nil)
	required := slices.DeleteFunc(slices.Clone(components), func(c leading) bool { return c.optional })
	if err != nil || len(status.Components) != len(required) {
		t.Errorf("without a DaemonSet and a descheduler: %v, %+v", err, status.Components)
	}
}

// TestAServerThatFailsEndsTheStatus: what is neither there nor absent nor forbidden is an error that names what was read.
func TestAServerThatFailsEndsTheStatus(t *testing.T) {
	for resource, want := range map[string]string{
		"deployments": `get deployment "koord-manager": `, "leases": `get lease "koordinator-manager": `, "daemonsets": `get daemonset "koordlet": `,
	} {
		broken := apierrors.NewInternalError(errors.New("etcd is away"))
		_, err := componentsOf(t, func(c *fake.Clientset) { answer(c, resource, broken) })
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", resource, err, want)
		}
	}
}

// evictions are a record of pods that were evicted so long ago each, and of how many may be.
func evictions(limit int, ago ...time.Duration) *corev1.ConfigMap {
	record := evictionbudget.Record{Limit: limit}
	for _, d := range ago {
		record.Evicted = append(record.Evicted, evictionbudget.Count{At: now.Add(-d), Count: 1})
	}
	return &corev1.ConfigMap{ObjectMeta: meta(configuration.EvictionsConfigMapName), Data: record.Data()}
}

func TestABudgetOfEvictionsThatIsUsedUpIsFound(t *testing.T) {
	garbage := evictions(1, time.Minute)
	for key := range garbage.Data {
		garbage.Data[key] = "{"
	}
	tests := map[string]struct {
		record *corev1.ConfigMap
		edit   func(*fake.Clientset)
		want   string
	}{
		"no record":        {},
		"room is left":     {record: evictions(3, time.Minute, 2*time.Minute)},
		"used up":          {record: evictions(2, time.Minute, 2*time.Minute), want: "node agents evicted 2 pods within 10 minutes, as many as the cluster's budget allows: the next ones stay for now"},
		"some are over":    {record: evictions(2, time.Minute, 11*time.Minute)},
		"nothing bounds":   {record: evictions(0, time.Minute)},
		"garbage":          {record: garbage},
		"may not be read":  {record: evictions(1, time.Minute), edit: func(c *fake.Clientset) { answer(c, "configmaps", forbidden("configmaps")) }},
		"another is there": {record: &corev1.ConfigMap{ObjectMeta: meta("another")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var objects []runtime.Object
			if tc.record != nil {
				objects = append(objects, tc.record)
			}
			collector, client := newTestCollector(objects, nil, released("deployed"))
			collector.status = &InstallationStatus{Namespace: release.DefaultNamespace}
			if tc.edit != nil {
				tc.edit(client)
			}
			if err := collector.collectEvictions(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, found := range collector.status.Findings {
				got += found.Message
			}
			if got != tc.want {
				t.Errorf("finding %q, want %q", got, tc.want)
			}
		})
	}
}

// TestNodeMetricsAreReadAsColumns: 5,000 of them are 200 MB.
func TestNodeMetricsAreReadAsColumns(t *testing.T) {
	text, asked, code := "", "", http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String() + " " + r.Header.Get("Accept")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	read := enforcementTable(client.CoreV1().RESTClient())
	text = `{"kind":"Table","columnDefinitions":[{"name":"Name"},{"name":"Enforcing"}],"rows":[{"cells":["node-1","True"]}]}`
	table, err := read(t.Context())
	if err != nil || len(table.Rows) != 1 || cell(table, table.Rows[0], "Name") != "node-1" || cell(table, table.Rows[0], "Age") != "" {
		t.Errorf("%+v, %v", table, err)
	}
	const want = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics?includeObject=None&resourceVersion=0 application/json;as=Table;v=v1;g=meta.k8s.io"
	if asked != want {
		t.Errorf("asked %q, want %q", asked, want)
	}
	text = "{"
	if _, err := read(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "read the columns of the NodeMetrics: ") {
		t.Errorf("of an answer that is no JSON: %v", err)
	}
	code, text = http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"User \"eve\" cannot list resource \"nodemetrics\""}`
	if _, err := read(t.Context()); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `User "eve"`) {
		t.Errorf("of a refusal: %v", err)
	}
}

func TestEnforcementIsToldOfEachNode(t *testing.T) {
	rows := func(rows ...[3]any) func(context.Context) (*metav1.Table, error) {
		return func(context.Context) (*metav1.Table, error) { return columns(rows...), nil }
	}
	fails := func(err error) func(context.Context) (*metav1.Table, error) {
		return func(context.Context) (*metav1.Table, error) { return nil, err }
	}
	absent := apierrors.NewNotFound(schema.GroupResource{Resource: "nodemetrics"}, "")
	tests := map[string]struct {
		read                  func(context.Context) (*metav1.Table, error)
		wantState             State
		wantReady, wantDetail string
		wantMessages          []string
	}{
		"all do":           {nodesOf("True", "a", "b"), StateReady, "2/2", "", nil},
		"one says nothing": {rows([3]any{"a", "True", ""}, [3]any{"b", "", ""}), StateReady, "1/2", "agents that do not report: 1", nil},
		"none says":        {rows([3]any{"a", "", ""}), StateUnknown, "0/1", "agents that do not report: 1", nil},
		"no measurements":  {rows(), StateAbsent, "0/0", "no NodeMetrics", nil},
		"one cannot": {
			rows([3]any{"a", "False", "Refused"}, [3]any{"b", "True", ""}), StateDegraded, "1/2", "",
			[]string{"error koordlet cannot limit best-effort pods on a (Refused): no batch or mid resources are offered there"},
		},
		"many cannot, for two reasons": {
			rows([3]any{"e", "False", "Refused"}, [3]any{"d", "False", "Refused"}, [3]any{"c", "False", "Refused"}, [3]any{"b", "False", "Refused"}, [3]any{"a", "False", slov1alpha1.ReasonReadOnly}),
			StateDegraded, "0/5", "",
			[]string{
				"warning koordlet cannot limit best-effort pods on a (" + slov1alpha1.ReasonReadOnly + "): no batch or mid resources are offered there",
				"error koordlet cannot limit best-effort pods on b, c, d and 1 more (Refused): no batch or mid resources are offered there",
			},
		},
		"not installed":    {fails(absent), StateAbsent, "", "", nil},
		"may not be read":  {fails(forbidden("nodemetrics")), StateUnknown, "", "", nil},
		"the server fails": {fails(errors.New("etcd is away")), "", "", "", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			collector, _ := newTestCollector(nil, nil, released("deployed"))
			collector.enforcement, collector.status = tc.read, &InstallationStatus{}
			if err := collector.collectEnforcement(t.Context()); err != nil {
				if tc.wantState != "" || err.Error() != "list the NodeMetrics: etcd is away" {
					t.Errorf("error %v", err)
				}
				return
			}
			_, state, ready, detail := enforcementRow(&collector.status.Enforcement)
			if state != tc.wantState || ready != tc.wantReady || detail != tc.wantDetail {
				t.Errorf("row %s, %q, %q, want %s, %q, %q", state, ready, detail, tc.wantState, tc.wantReady, tc.wantDetail)
			}
			var messages []string
			for _, found := range collector.status.Findings {
				messages = append(messages, string(found.Severity)+" "+found.Message)
			}
			slices.Sort(messages)
			slices.Sort(tc.wantMessages)
			if diff := cmp.Diff(tc.wantMessages, messages); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResultsAreObjectsOfAKind(t *testing.T) {
	result := &release.Result{Release: release.Release{Name: "koordinator", Revision: 4}, Changes: []release.Change{
		{APIVersion: "v1", Kind: "Service", Name: "koord-manager", Action: release.Created},
	}}
	for _, format := range []string{"json", "yaml"} {
		var out strings.Builder
		m := mutationIn(messages.English, &out)
		m.output.format = format
		if err := m.report(result, "installed"); err != nil {
			t.Fatal(err)
		}
		text := []byte(out.String())
		if json.Valid(text) != (format == "json") {
			t.Errorf("%s is JSON: %t", format, json.Valid(text))
		}
		var got struct {
			APIVersion, Kind string
			Changes          []struct{ Kind, Name, Action string }
		}
		if err := yaml.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if got.Kind != "InstallationResult" || got.APIVersion != "diagnostics.koordinator.sh/v1alpha1" || len(got.Changes) != 1 || got.Changes[0].Name != "koord-manager" {
			t.Errorf("-o %s: %+v", format, got)
		}
	}
}

func TestStatesHaveTheirRoles(t *testing.T) {
	for state, want := range map[State]printer.Role{
		StateReady: printer.Good, StateDown: printer.Bad, StateDegraded: printer.Warn, StateAbsent: printer.Warn, StateUnknown: printer.Warn,
	} {
		if got := state.role(); got != want {
			t.Errorf("%s has role %d, want %d", state, got, want)
		}
	}
}
