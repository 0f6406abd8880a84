package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/test/sandboxtest"
)

const (
	// editor is a user who has what the chart gives to people who change the configuration, and nothing else.
	editor = "config-editor"
	// viewer may look at everything and change nothing.
	viewer = "config-viewer"
	// burst is a value that nothing else in the tests looks at.
	burst = "cpu-burst-config.cpuBurstPercent"
)

// bindView binds a user to the chart's role for looking at the cluster.
func bindView(t *testing.T, user string) {
	t.Helper()
	bindings := client.RbacV1().ClusterRoleBindings()
	_, err := bindings.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "it-" + user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "koordinator-cluster-view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bindings.Delete(context.Background(), "it-"+user, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	waitUntilAllowed(t, user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}})
}

// bindEditor binds a user to the chart's role for changing the configuration, which holds in the system's namespace alone.
func bindEditor(t *testing.T, user string) {
	t.Helper()
	bindings := client.RbacV1().RoleBindings(systemNamespace)
	_, err := bindings.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "it-" + user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "koordinator-config-editor"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bindings.Delete(context.Background(), "it-"+user, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	sandboxtest.Eventually(t, patience, func() error {
		review, err := client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: systemNamespace, Verb: "patch", Resource: "configmaps", Name: configName,
			}},
		}, metav1.CreateOptions{})
		if err == nil && !review.Status.Allowed {
			err = fmt.Errorf("%s may not patch the configuration", user)
		}
		return err
	})
}

// forgetRevisions deletes the revisions that a test has kept of the configuration.
func forgetRevisions(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		kept := metav1.ListOptions{LabelSelector: "koordinator.sh/configuration=" + configName}
		if err := client.AppsV1().ControllerRevisions(systemNamespace).DeleteCollection(context.Background(), metav1.DeleteOptions{}, kept); err != nil {
			t.Error(err)
		}
	})
}

// configuring runs a config command as the editor. What the editor may not read would be reported as incomplete.
func configuring(t *testing.T, wantCode int, args ...string) sandboxtest.Result {
	t.Helper()
	result := koordctl(t, wantCode, append(append([]string{"config"}, args...), "--as", editor)...)
	if strings.Contains(result.Stderr, "incomplete:") {
		t.Errorf("config %s: the roles of the chart are not enough:\n%s", args[0], result.Stderr)
	}
	return result
}

// configAnswer is what is read of the JSON that config commands print.
type configAnswer struct {
	Kind  string
	Items []struct {
		Name, Cause string
		Revision    int64
		InForce     bool
	}
	Summary struct{ Nodes, NodeSLOs int }
	Applied *struct{ Revision int64 }
}

func configuringJSON(t *testing.T, wantCode int, args ...string) configAnswer {
	t.Helper()
	result := configuring(t, wantCode, append(args, "-o", "json")...)
	var out configAnswer
	if err := json.Unmarshal([]byte(result.Stdout), &out); err != nil {
		t.Fatalf("config %v: %v\n%s", args, err, result.Stdout)
	}
	return out
}

// awaitBurst waits until every NodeSLO has a value of cpuBurstPercent.
func awaitBurst(t *testing.T, want int64) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		slos, err := dynamicClient.Resource(sloResource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range slos.Items {
			got, _, err := unstructured.NestedInt64(slos.Items[i].Object, "spec", "cpuBurstStrategy", "cpuBurstPercent")
			if err != nil || got != want {
				return fmt.Errorf("node %s: cpuBurstPercent is %d, want %d (%v)", slos.Items[i].GetName(), got, want, err)
			}
		}
		return nil
	})
}

// dataNow is the configuration as it is stored.
func dataNow(t *testing.T) map[string]string {
	t.Helper()
	found, err := client.CoreV1().ConfigMaps(systemNamespace).Get(t.Context(), configName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return found.Data
}

// takeOver has a GitOps tool keep cpu-burst-config.
func takeOver(t *testing.T, manager, text string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": configName}, "data": map[string]any{"cpu-burst-config": text},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().ConfigMaps(systemNamespace).Patch(t.Context(), configName, types.ApplyPatchType, patch,
		metav1.PatchOptions{FieldManager: manager, Force: new(true)})
	if err != nil {
		t.Fatal(err)
	}
}

// TestConfigIsChangedAndTakenBackByItsEditor goes through what people do with the configuration, each with no more rights than
// the chart's roles give: the API server and the webhook judge every write, and the manager follows it.
func TestConfigIsChangedAndTakenBackByItsEditor(t *testing.T) {
	before := keepConfiguration(t)
	forgetRevisions(t)
	bindView(t, viewer)
	bindView(t, editor)
	bindEditor(t, editor)

	t.Run("it is read and checked", func(t *testing.T) {
		configuring(t, 0, "lint")
		if got := configuring(t, 0, "explain", burst).Stdout; !strings.Contains(got, "default: 1000") {
			t.Errorf("explain says:\n%s", got)
		}
		if got := configuring(t, 0, "get", burst).Stdout; got != "1000\n" {
			t.Errorf("get says %q", got)
		}
		configuring(t, 1, "diff", burst+"=700")
	})
	t.Run("a plan exits with 1 when something changes", func(t *testing.T) {
		plan := configuringJSON(t, 1, "plan", burst+"=700")
		if plan.Kind != "ConfigPlanNodeList" || len(plan.Items) < nodes || plan.Summary.NodeSLOs != len(plan.Items) {
			t.Errorf("plan %s of %d nodes, %+v", plan.Kind, len(plan.Items), plan.Summary)
		}
		if diff := cmp.Diff(before, dataNow(t)); diff != "" {
			t.Errorf("a plan writes (-before +after):\n%s", diff)
		}
	})
	t.Run("who may only look cannot write", func(t *testing.T) {
		result := koordctl(t, 1, "config", "set", burst+"=700", "--yes", "--as", viewer)
		if !strings.Contains(result.Stderr, "KOORD0002") {
			t.Errorf("stderr:\n%s", result.Stderr)
		}
		if diff := cmp.Diff(before, dataNow(t)); diff != "" {
			t.Errorf("it is written all the same (-before +after):\n%s", diff)
		}
	})
	t.Run("it is set, the manager follows, and the history has it", func(t *testing.T) { setAndKeep(t) })
	t.Run("what another program keeps is not taken over", func(t *testing.T) { keptByAnother(t) })
	t.Run("it is rolled back", func(t *testing.T) {
		first := configuringJSON(t, 0, "history").Items[0].Revision
		configuring(t, 0, "rollback", "--to", fmt.Sprint(first), "--yes")
		if diff := cmp.Diff(before, dataNow(t)); diff != "" {
			t.Errorf("after the rollback (-before +after):\n%s", diff)
		}
		awaitBurst(t, 1000)
		configuring(t, 0, "diff")
	})
}

// setAndKeep sets a value and looks for what follows from it.
func setAndKeep(t *testing.T) {
	configuring(t, 2, "set", burst+"=700")
	made := configuringJSON(t, 0, "set", burst+"=700", "--yes")
	if made.Kind != "ConfigPlanNodeList" || made.Applied == nil || made.Applied.Revision == 0 {
		t.Errorf("set says %s, applied %+v", made.Kind, made.Applied)
	}
	awaitBurst(t, 700)
	configuring(t, 0, "plan")
	configuring(t, 0, "diff")
	again := configuringJSON(t, 0, "set", burst+"=700", "--yes")
	if again.Kind != "ConfigPlanNodeList" || again.Applied != nil || len(again.Items) != 0 {
		t.Errorf("set again says %s of %d nodes, applied %+v", again.Kind, len(again.Items), again.Applied)
	}
	revisions := configuringJSON(t, 0, "history").Items
	if len(revisions) != 2 || !strings.HasPrefix(revisions[0].Cause, "found") {
		t.Fatalf("revisions %+v, want that found and that made", revisions)
	}
	if last := revisions[1]; !last.InForce || last.Revision != made.Applied.Revision || last.Cause != "koordctl config set "+burst+"=700" {
		t.Errorf("the last revision is %+v", last)
	}
}

// keptByAnother changes the key behind the editor's back, and changes it again by force.
func keptByAnother(t *testing.T) {
	const kept = `{"clusterStrategy": {"cpuBurstPercent": 600}}`
	takeOver(t, "gitops-controller", kept)
	configuring(t, 1, "diff")
	result := configuring(t, 1, "set", burst+"=500", "--yes")
	if !strings.Contains(result.Stderr, "KOORD0213") || !strings.Contains(result.Stderr, "gitops-controller") {
		t.Errorf("stderr:\n%s", result.Stderr)
	}
	if got := dataNow(t)["cpu-burst-config"]; got != kept {
		t.Errorf("cpu-burst-config is %s", got)
	}
	configuring(t, 0, "set", burst+"=500", "--yes", "--force-conflicts")
	awaitBurst(t, 500)
}
