package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// Users of the sandbox, from all rights to none.
const (
	allRights     = ""
	clusterViewer = "cluster-viewer" // has the role that the chart ships for people who run the cluster
	nodeReader    = "node-reader"    // may read nodes and pods, and nothing of the system
	nodesOnly     = "nodes-alone"    // may read nodes
	podReader     = "pod-reader"     // may read the pods of one namespace
	nobody        = "nobody-at-all"
)

// untrue of the sandbox for any user: its nodes, of 15.5 or 31 cores, have pods and measurements, co-location is on, and evictions are
// configured.
var untrue = regexp.MustCompile(`co-location is disabled|\b0 pods\b|no measurements|Absent|without an eviction trigger|no pod has exclusive CPUs|used 0 |` +
	`defaults? of .* assumed|settings are assumed|too high|too low|\s0/(15\.5|31|62Gi|124Gi)\s|0 evictions|enable is not true|is off\b|no node could be looked at`)

// reply is what a user is answered by a command.
type reply struct {
	code int
	// want are parts of what is printed, on either stream.
	want []string
}

func whole(want ...string) reply { return reply{0, want} }

func partly(want ...string) reply { return reply{0, append(want, "incomplete:")} }

func refused(verb, resource string) reply {
	return reply{1, []string{"error: ", verb + " " + resource, "not permitted", "KOORD0002"}}
}

// refusedPlan is refused where 1 stands for differences.
func refusedPlan(verb, resource string) reply {
	out := refused(verb, resource)
	out.code = 2
	return out
}

func TestEveryCommandTellsUsersWithFewRightsWhatIsUnknown(t *testing.T) {
	grantRoles(t)
	pod := boundPod(t, "analytics")
	const config = `configmaps "slo-controller-config"`
	tests := map[string]map[string]reply{
		"top nodes": {
			allRights: whole("sim-0001"), clusterViewer: whole("sim-0001"),
			nodeReader: partly("sim-0001", "?/15.5", "used <unknown>", "list nodemetrics.slo.koordinator.sh: not permitted"),
			nodesOnly:  partly("sim-0001", "?/?", "requested by prod <unknown>", "requested <unknown>", "list pods: not permitted"),
			podReader:  refused("list", "nodes"), nobody: refused("list", "nodes"),
		},
		"top pods -n analytics": {
			allRights: whole(pod), clusterViewer: whole(pod), nodeReader: partly(pod, "<unknown>", "what is used is unknown"),
			nodesOnly: refused("list", "pods"), podReader: partly(pod, "what is used is unknown"), nobody: refused("list", "pods"),
		},
		"top pods -A": {
			allRights: whole(pod), nodeReader: partly(pod), podReader: {1, []string{"not permitted", "-n NAMESPACE shows a namespace you may read"}}, nobody: refused("list", "pods"),
		},
		"top recommendations -A": {
			allRights: whole(), clusterViewer: whole(), nodeReader: refused("list", "recommendations"), podReader: refused("list", "recommendations"), nobody: refused("list", "recommendations"),
		},
		"explain node sim-0001": {
			allRights: whole("offers"), clusterViewer: whole("offers"),
			nodeReader: partly("is unknown: no permission to read slo-controller-config", "batch-cpu = <unknown>", "NodeMetric <unknown>", " pod"),
			nodesOnly:  partly("is unknown: no permission to read slo-controller-config", "<unknown> pods"),
			podReader:  refused("get", "nodes"), nobody: refused("get", "nodes"),
		},
		"explain node sim-0001 features suppress cpus": {
			allRights: partly("simulated-koordlet"), clusterViewer: partly("simulated-koordlet"),
			nodeReader: partly("no permission to read the NodeSLOs", "whether best-effort pods are suppressed is unknown", "the CPUs of the node are unknown: no permission"),
			nodesOnly:  partly("whether best-effort pods are suppressed is unknown"), podReader: refused("get", "nodes"), nobody: refused("get", "nodes"),
		},
		"explain pod monthly-report -n analytics": {
			allRights: whole("Unschedulable"), clusterViewer: whole("Unschedulable"), nodeReader: partly("Unschedulable", "load is unknown"),
			nodesOnly: refused("get", "pods"), podReader: partly("Unschedulable", "the scheduler said", "which nodes could take the pod is unknown"), nobody: refused("get", "pods"),
		},
		"explain qos pod " + pod + " -n analytics": {
			allRights: whole(pod), clusterViewer: whole(pod), nodeReader: partly("what is set for pods is unknown"), podReader: refused("get", "nodes"), nobody: refused("list", "pods"),
		},
		"forecast evictions sim-0001": {
			allRights: whole("BEMemoryEvict"), clusterViewer: whole("BEMemoryEvict"), nodeReader: partly("unknown", "no permission to read the NodeSLOs"),
			nodesOnly: partly("unknown", "no permission to read the NodeSLOs"), podReader: refused("get", "nodes"), nobody: refused("get", "nodes"),
		},
		"forecast evictions": {
			allRights: {0, []string{"sim-0001", "BEMemoryEvict"}}, nodeReader: partly(" unknown: no permission to read the NodeSLOs"),
			nodesOnly: partly(" unknown"), podReader: refused("list", "nodes"), nobody: refused("list", "nodes"),
		},
		"audit node sim-0001": {
			nodeReader: {1, []string{"you do not have permission to create nodeexplanations", "KOORD0002"}}, podReader: refused("get", "nodes"), nobody: refused("get", "nodes"),
		},
		"status": {
			allRights: whole("co-location enabled"), clusterViewer: partly("co-location enabled"), nodeReader: partly("Unknown", "configmap/slo-controller-config"),
			podReader: partly("Unknown"), nobody: partly("Unknown"),
		},
		"config get": {
			allRights: whole("colocation-config.enable"), clusterViewer: whole("colocation-config.enable"), nodeReader: refused("get", config), podReader: refused("get", config), nobody: refused("get", config),
		},
		"config diff colocation-config.cpuReclaimThresholdPercent=50": {
			clusterViewer: {1, []string{"cpuReclaimThresholdPercent"}}, nodeReader: refusedPlan("get", config), podReader: refusedPlan("get", config), nobody: refusedPlan("get", config),
		},
		"config plan colocation-config.cpuReclaimThresholdPercent=50": {
			allRights: {1, []string{"batch-cpu"}}, clusterViewer: {1, []string{"batch-cpu"}}, nodeReader: refusedPlan("get", config), nobody: refusedPlan("get", config),
		},
		"why KOORD0002": {nobody: whole("Forbidden")},
	}
	for line, users := range tests {
		for user, want := range users {
			t.Run(line+"/"+user, func(t *testing.T) {
				result := koordctl(t, want.code, asUser(user, strings.Fields(line)...)...)
				compare(t, user, result, want)
			})
		}
	}
}

// compare checks what was printed, and that users who may not see it are told nothing that is untrue.
func compare(t *testing.T, user string, result sandboxtest.Result, want reply) {
	t.Helper()
	text := result.Stdout + result.Stderr
	for _, part := range want.want {
		if !strings.Contains(text, part) {
			t.Errorf("lacks %q:\n%s", part, text)
		}
	}
	if user != allRights && user != clusterViewer {
		if found := untrue.FindString(text); found != "" {
			t.Errorf("says %q, which is untrue:\n%s", found, text)
		}
	}
}

func TestTheJSONOfUsersWithFewRightsLacksWhatIsUnknown(t *testing.T) {
	grantRoles(t)
	tests := map[string]struct {
		user string
		// wantPods and wantUsed say whether the values are there.
		wantPods, wantUsed bool
		wantUnknown        []string
	}{
		"all rights":  {allRights, true, true, nil},
		"node reader": {nodeReader, true, false, []string{"configmaps/koord-descheduler-config", "configmaps/koord-scheduler-config", "configmaps/slo-controller-config", "nodemetrics.slo.koordinator.sh"}},
		"nodes alone": {nodesOnly, false, false, []string{"configmaps/koord-descheduler-config", "configmaps/koord-scheduler-config", "configmaps/slo-controller-config", "nodemetrics.slo.koordinator.sh", "pods"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			result := koordctl(t, 0, asUser(tc.user, "top", "nodes", "sim-0001", "-o", "json")...)
			var list diagnosticsv1alpha1.NodeOverviewList
			if err := json.Unmarshal([]byte(result.Stdout), &list); err != nil || len(list.Items) != 1 {
				t.Fatalf("%v\n%s", err, result.Stdout)
			}
			n := list.Items[0]
			if (n.Pods != nil) != tc.wantPods || (n.CPU.ProdRequested != nil) != tc.wantPods || (n.Memory.BatchRequested != nil) != tc.wantPods {
				t.Errorf("pods %v, requested %v: want them there: %t", n.Pods, n.CPU.ProdRequested, tc.wantPods)
			}
			if (n.CPU.Used != nil) != tc.wantUsed || (n.Metric.State == diagnosticsv1alpha1.MetricUnknown) == tc.wantUsed {
				t.Errorf("used %v, metric %s: want it there: %t", n.CPU.Used, n.Metric.State, tc.wantUsed)
			}
			var unknown []string
			for _, input := range list.Unknown {
				unknown = append(unknown, input.Input)
				if input.Reason != diagnosticsv1alpha1.UnknownForbidden || !strings.Contains(input.Message, "not permitted") {
					t.Errorf("input %+v does not say why", input)
				}
			}
			if !slices.Equal(unknown, tc.wantUnknown) {
				t.Errorf("unknown %q, want %q", unknown, tc.wantUnknown)
			}
		})
	}
}

// asUser runs a command as another user; empty is the allRights.
func asUser(user string, args ...string) []string {
	if user == allRights {
		return args
	}
	return append(args, "--as", user)
}

// grantRoles gives the users their rights for the time of the test.
func grantRoles(t *testing.T) {
	t.Helper()
	read := func(resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: resources, Verbs: []string{"get", "list", "watch"}}
	}
	grant(t, nodeReader, read("nodes", "pods"))
	grant(t, nodesOnly, read("nodes"))
	meta, subject := metav1.ObjectMeta{Name: "it-rights"}, func(user string) []rbacv1.Subject {
		return []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	}
	bindings, roles := client.RbacV1().ClusterRoleBindings(), client.RbacV1().Roles("analytics")
	own := client.RbacV1().RoleBindings("analytics")
	for _, create := range []func() error{
		func() error {
			_, err := bindings.Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subject(clusterViewer),
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "koordinator-cluster-view"}}, metav1.CreateOptions{})
			return err
		},
		func() error {
			_, err := roles.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{read("pods")}}, metav1.CreateOptions{})
			return err
		},
		func() error {
			_, err := own.Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subject(podReader),
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name}}, metav1.CreateOptions{})
			return err
		},
	} {
		if err := create(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, remove := range []func(context.Context, string, metav1.DeleteOptions) error{bindings.Delete, roles.Delete, own.Delete} {
			if err := remove(context.Background(), meta.Name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}
	})
	sandboxtest.Eventually(t, patience, func() error {
		for _, args := range [][]string{{"top", "pods", "-n", "analytics", "--as", podReader}, {"config", "get", "--as", clusterViewer}} {
			if result, err := shared.Koordctl(t.Context(), args...); err != nil || result.Code != 0 {
				return fmt.Errorf("koordctl %v: %v\n%s", args, err, result.Stderr)
			}
		}
		return nil
	})
}

// boundPod is the name of a pod that has a node.
func boundPod(t *testing.T, namespace string) string {
	t.Helper()
	pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName!="})
	if err != nil || len(pods.Items) == 0 {
		t.Fatalf("no pod of namespace %q has a node: %v", namespace, err)
	}
	return pods.Items[0].Name
}
