package install

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	discoveryfake "k8s.io/client-go/discovery/fake"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/kubectl-plugin/failon"
	"koordinator.sh/koord/kubectl-plugin/printer"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

var now = time.Date(2030, time.May, 1, 8, 0, 0, 0, time.UTC)

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: release.DefaultNamespace, Name: name}
}

func newLease(name, holder string, age time.Duration) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: meta(name), Spec: coordinationv1.LeaseSpec{
		HolderIdentity: new(holder), LeaseDurationSeconds: new(int32(15)), RenewTime: &metav1.MicroTime{Time: now.Add(-age)},
	}}
}

func newDeployment(name string, ready, desired int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: meta(name), Spec: appsv1.DeploymentSpec{Replicas: &desired}, Status: appsv1.DeploymentStatus{ReadyReplicas: ready},
	}
}

func withCondition(apiVersion, kind, name, condition, status, message string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name},
		"status": map[string]any{"conditions": []any{map[string]any{"type": condition, "status": status, "message": message}}},
	}}
}

func allDefinitions(t *testing.T) []runtime.Object {
	t.Helper()
	names, err := release.DefinitionNames()
	if err != nil {
		t.Fatal(err)
	}
	var objects []runtime.Object
	for _, name := range names {
		objects = append(objects, withCondition("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, "Established", "True", ""))
	}
	return objects
}

func newConfig(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: meta(configName), Data: map[string]string{"colocation-config": text}}
}

func newLastGood(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: meta(lastGoodName), Data: map[string]string{"colocation-config": text}}
}

// newNode has 16 cores, 64Gi, one label and what else is allocatable.
func newNode(name, label, value string, allocatable ...string) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: value}},
		Status: corev1.NodeStatus{
			Capacity:    corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi")},
			Allocatable: corev1.ResourceList{},
		},
	}
	for i := 0; i < len(allocatable); i += 2 {
		node.Status.Allocatable[corev1.ResourceName(allocatable[i])] = resource.MustParse(allocatable[i+1])
	}
	return node
}

func released(status string) func(context.Context) (*release.Release, error) {
	return func(context.Context) (*release.Release, error) {
		return &release.Release{
			Name: "koordinator", Namespace: release.DefaultNamespace, Revision: 2, Status: status,
			ChartVersion: "0.1.0", AppVersion: "0.1.0", Updated: now.Add(-5 * time.Minute), Description: "timed out",
		}, nil
	}
}

func noRelease(context.Context) (*release.Release, error) {
	return nil, finding.Wrap(errors.New("release not found"), finding.ReleaseNotFound, "")
}

func newTestCollector(objects, others []runtime.Object, find func(context.Context) (*release.Release, error)) (*collector, *fake.Clientset) {
	client := fake.NewClientset(append(objects, newProtections())...)
	client.Discovery().(*discoveryfake.FakeDiscovery).FakedServerVersion = &version.Info{GitVersion: "v1.36.3"}
	kinds := map[schema.GroupVersionResource]string{definitions: "CustomResourceDefinitionList", apiServices: "APIServiceList", elasticQuotas: "ElasticQuotaList", migrationJobs: "PodMigrationJobList"}
	scheme := runtime.NewScheme()
	return &collector{
		client: client, dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(scheme, kinds, append(others, newBinding("Deny"))...),
		clock: clocktesting.NewFakePassiveClock(now), release: find, enforcement: nodesOf("True", "node-1", "node-2"),
	}, client
}

// newQuota has so much cpu at most, and uses so much.
func newQuota(name, limit, used string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.sigs.k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": map[string]any{"namespace": "quotas", "name": name},
		"spec": map[string]any{"max": map[string]any{"cpu": limit}}, "status": map[string]any{"used": map[string]any{"cpu": used}},
	}}
}

// newQuotaPod is in a quota and requests one resource.
func newQuotaPod(quota string, of corev1.ResourceName, amount string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "analytics", Name: quota + "-driver", Labels: map[string]string{extension.LabelQuotaName: quota}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{of: resource.MustParse(amount)}},
		}}},
	}
}

func TestStatusPrintsTheGoldenTables(t *testing.T) {
	apiService := func(status, message string) runtime.Object {
		return withCondition("apiregistration.k8s.io/v1", "APIService", APIServiceName, "Available", status, message)
	}
	tests := map[string]struct {
		objects []runtime.Object
		others  []runtime.Object
		release func(context.Context) (*release.Release, error)
	}{
		"cluster": {
			objects: []runtime.Object{
				newDeployment("koord-manager", 2, 2), newDeployment("koord-scheduler", 1, 2), newConfig(`{"enable":true}`),
				newLease("koordinator-manager", "koord-manager-a_1", 2*time.Second), newLease("koord-scheduler", "koord-scheduler-b_2", time.Second),
				newDeployment("koord-descheduler", 2, 2), newLease("koord-descheduler", "koord-descheduler-a_1", time.Second),
			},
			others: append(allDefinitions(t), apiService("True", "all checks passed")), release: released("deployed"),
		},
		"outside": {
			objects: []runtime.Object{
				newConfig(`{"enable":false}`),
				newLease("koordinator-manager", "host_1", 2*time.Second), newLease("koord-scheduler", "host_2", time.Second),
			},
			others: append(allDefinitions(t), apiService("True", "")), release: noRelease,
		},
		"broken": {
			objects: []runtime.Object{
				newDeployment("koord-manager", 0, 2), newDeployment("koord-descheduler", 0, 2), newDeployment("koord-bridge", 0, 1), newConfig(`{"enable":`),
				newLease("koordinator-manager", "koord-manager-a_1", time.Hour),
			},
			others: append(allDefinitions(t)[2:], apiService("False", "no endpoints available")), release: released("failed"),
		},
		"competing": {
			objects: []runtime.Object{
				newConfig(`{"enable":true,"nodeConfigs":[{"nodeSelector":{"matchLabels":{"pool":"a"}},"enable":true},{"nodeSelector":{"matchLabels":{"pool":"a"}},"enable":false}]}`),
				newNode("node-2", "pool", "a"), newNode("node-1", "pool", "a"), newNode("node-3", "pool", "b"),
				newLease("koordinator-manager", "host_1", 2*time.Second), newLease("koord-scheduler", "host_2", time.Second),
			},
			others: append(allDefinitions(t), apiService("True", "")), release: released("deployed"),
		},
		"kept": {
			objects: []runtime.Object{
				newConfig(`{"enable":"yes"}`), newLastGood(`{"enable":true}`),
				newLease("koordinator-manager", "host_1", 2*time.Second), newLease("koord-scheduler", "host_2", time.Second),
			},
			others: append(allDefinitions(t), apiService("True", "")), release: released("deployed"),
		},
		"overoffered": {
			objects: []runtime.Object{
				newConfig(`{"enable":true}`),
				newNode("node-1", "pool", "a", "kubernetes.io/batch-cpu", "16001"), newNode("node-2", "pool", "a", "kubernetes.io/batch-cpu", "17000"),
				newNode("node-3", "pool", "a", "kubernetes.io/mid-memory", "65Gi"), newNode("node-4", "pool", "a", "kubernetes.io/batch-cpu", "16000"),
				newLease("koordinator-manager", "host_1", 2*time.Second), newLease("koord-scheduler", "host_2", time.Second),
			},
			others: append(allDefinitions(t), apiService("True", "")), release: released("deployed"),
		},
	}
	tests["quotas"] = tests["cluster"]
	quotas := tests["quotas"]
	quotas.objects = append(slices.Clone(quotas.objects), newQuotaPod("spark", "kubernetes.io/batch-cpu", "4000"))
	quotas.others = append(slices.Clone(quotas.others), newQuota("spark", "12", "16"), newQuota("koordinator-default-quota", "1", "2"))
	tests["quotas"] = quotas
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, _ := newTestCollector(tc.objects, tc.others, tc.release)
			status, err := c.collect(t.Context(), release.DefaultNamespace)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			o := &StatusOptions{IOStreams: genericiooptions.IOStreams{Out: &out, ErrOut: &out}, look: func() printer.Options { return printer.Options{Now: now} }}
			if err := o.show(status); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "status-"+name+".golden")
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("output differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDefinitionsOfThisBuildAlone are missed beside its own koord-manager, and not beside another one.
func TestDefinitionsOfThisBuildAlone(t *testing.T) {
	own := map[string]string{release.PartOfLabel: release.PartOf}
	without := func(lacking string) []runtime.Object {
		return slices.DeleteFunc(allDefinitions(t), func(o runtime.Object) bool { return o.(*unstructured.Unstructured).GetName() == lacking })
	}
	dead := withCondition("apiextensions.k8s.io/v1", "CustomResourceDefinition", ownDefinitions[0], "Established", "False", "")
	all := len(allDefinitions(t))
	tests := map[string]struct {
		manager      map[string]string
		definitions  []runtime.Object
		wantState    State
		wantExpected int
		wantMissing  []string
	}{
		"another build without it":             {nil, without(ownDefinitions[0]), StateReady, all - 1, nil},
		"another build with it":                {nil, allDefinitions(t), StateReady, all, nil},
		"another build where it is not served": {nil, append(without(ownDefinitions[0]), dead), StateDegraded, all, ownDefinitions},
		"another build without others":         {nil, without("devices.scheduling.koordinator.sh"), StateDegraded, all, []string{"devices.scheduling.koordinator.sh"}},
		"this build without it":                {own, without(ownDefinitions[0]), StateDegraded, all, ownDefinitions},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			manager := newDeployment(managerName, 1, 1)
			manager.Labels = tc.manager
			c, _ := newTestCollector([]runtime.Object{manager, newConfig(`{"enable":true}`)}, tc.definitions, noRelease)
			status, err := c.collect(t.Context(), release.DefaultNamespace)
			if err != nil {
				t.Fatal(err)
			}
			want := DefinitionStatus{State: tc.wantState, Established: new(tc.wantExpected - len(tc.wantMissing)), Expected: tc.wantExpected, Missing: tc.wantMissing}
			if diff := cmp.Diff(want, status.Definitions); diff != "" {
				t.Errorf("definitions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnEmptyClusterIsNotInstalled(t *testing.T) {
	c, _ := newTestCollector(nil, nil, noRelease)
	_, err := c.collect(t.Context(), release.DefaultNamespace)
	if coded, ok := finding.From(err); !ok || coded.Code != finding.NotInstalled {
		t.Errorf("error %v does not carry %s", err, finding.NotInstalled)
	}
}

func TestALeaseThatMayNotBeReadIsNoAbsentLeader(t *testing.T) {
	c, client := newTestCollector([]runtime.Object{newConfig(`{"enable":true}`), newDeployment("koord-scheduler", 1, 1)}, allDefinitions(t), noRelease)
	client.PrependReactor("get", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(action.GetResource().GroupResource(), "", errors.New("no right"))
	})
	status, err := c.collect(t.Context(), release.DefaultNamespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, component := range status.Components {
		if component.State != StateUnknown {
			t.Errorf("%s is %s, want %s", component.Name, component.State, StateUnknown)
		}
	}
	for _, found := range status.Findings {
		if found.Code == string(finding.SchedulerUnavailable) {
			t.Errorf("finding %q of a scheduler that was not seen", found.Message)
		}
	}
}

func TestWhatMayNotBeReadIsUnknownAndNamed(t *testing.T) {
	c, client := newTestCollector([]runtime.Object{newConfig(`{"enable":true}`)}, allDefinitions(t), func(context.Context) (*release.Release, error) {
		return nil, finding.Wrap(errors.New("secrets is forbidden"), finding.Forbidden, "")
	})
	for _, resource := range []string{"deployments", "daemonsets", "leases"} {
		client.PrependReactor("get", resource, func(action clienttesting.Action) (bool, runtime.Object, error) {
			name := action.(clienttesting.GetAction).GetName()
			return true, nil, apierrors.NewForbidden(action.GetResource().GroupResource(), name, fmt.Errorf("no right"))
		})
	}
	status, err := c.collect(t.Context(), release.DefaultNamespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, component := range status.Components {
		if component.State != StateUnknown {
			t.Errorf("%s is %s, want %s", component.Name, component.State, StateUnknown)
		}
	}
	if len(status.Incomplete) != 10 {
		t.Errorf("%d things are named that could not be seen, want 10: %q", len(status.Incomplete), status.Incomplete)
	}
}

func TestStatusFailsOnAnAbsentManager(t *testing.T) {
	for name, tc := range map[string]struct {
		failOn   failon.Flag
		manager  runtime.Object
		wantFail bool
	}{
		"absent and asked for":     {"error", newConfig(`{"enable":true}`), true},
		"absent and not asked for": {"", newConfig(`{"enable":true}`), false},
		"leading":                  {"info", newLease("koordinator-manager", "host_1", time.Second), false},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []runtime.Object{tc.manager, newLease("koord-scheduler", "host_2", time.Second)}
			c, _ := newTestCollector(objects, allDefinitions(t), released("deployed"))
			status, err := c.collect(t.Context(), release.DefaultNamespace)
			if err != nil {
				t.Fatal(err)
			}
			for _, format := range []string{"", "json"} {
				o := &StatusOptions{IOStreams: genericiooptions.NewTestIOStreamsDiscard(), failOn: tc.failOn, look: func() printer.Options { return printer.Options{Now: now} }}
				o.output.format = format
				err := o.show(status)
				if said := err != nil && strings.Contains(err.Error(), "KOORD0013"); said != tc.wantFail {
					t.Errorf("format %q: error %v", format, err)
				}
			}
		})
	}
}
