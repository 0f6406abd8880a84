package attack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

const diagnosticsPath = "/apis/diagnostics.koordinator.sh/v1alpha1"

// nodeNames are the nodes of the sandbox.
var nodeNames = []string{"sim-0001", "sim-0002", "sim-0003"}

// canaries are the names of what callers may not get, by resource.
var canaries = map[string][]string{
	"nodes": nodeNames,
	"pods":  {"canary-web", "canary-owner", "canary-batch", "canary-victim-a", "canary-victim-b", "canary-victim-c"},
	// The namespace stands before the names of its objects.
	"namespaces":    {"canary-shop"},
	"elasticquotas": {"canary-dept", "canary-team"},
	"podgroups":     {"canary-gang"},
	"reservations":  {"canary-room"},
}

// caller is a kind of user, with what it may get of the canaries.
type caller struct {
	name   string
	client kubernetes.Interface
	gets   []string
}

// asUser asks as a user of that name.
func asUser(t *testing.T, name string) kubernetes.Interface {
	t.Helper()
	as := rest.CopyConfig(config)
	as.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:authenticated"}}
	client, err := kubernetes.NewForConfig(as)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// callers are the kinds of user, with their roles for the time of the test.
func callers(t *testing.T) []caller {
	t.Helper()
	bind := func(user, role string) {
		bindings := admin.RbacV1().ClusterRoleBindings()
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "attack-" + user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		}
		if _, err := bindings.Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = bindings.Delete(context.Background(), binding.Name, metav1.DeleteOptions{}) })
	}
	const nodeReader = "attack-node-reader"
	roles := admin.RbacV1().ClusterRoles()
	if _, err := roles.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: nodeReader}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{"diagnostics.koordinator.sh"}, Resources: []string{"nodeexplanations", "nodeexplanationbatches"}, Verbs: []string{"create"}},
		{APIGroups: []string{"diagnostics.koordinator.sh"}, Resources: []string{"nodeoverviews", "quotaexplanations"}, Verbs: []string{"get", "list"}},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = roles.Delete(context.Background(), nodeReader, metav1.DeleteOptions{}) })
	bind("viewer", "view")
	bind("operator", "koordinator-cluster-view")
	bind("machinist", nodeReader)
	objects := []string{"pods", "namespaces", "elasticquotas", "podgroups", "reservations"}
	return []caller{
		{name: "tenant", client: tenant},
		{name: "cluster viewer without nodes", client: asUser(t, "viewer"), gets: objects},
		{name: "koordinator-cluster-view", client: asUser(t, "operator"), gets: append([]string{"nodes"}, objects...)},
		{name: "cluster-admin", client: admin, gets: append([]string{"nodes"}, objects...)},
		{name: "reader of nodes alone", client: asUser(t, "machinist"), gets: []string{"nodes"}},
	}
}

// query is a question, with the names that it has itself; without a body it reads.
type query struct {
	path, body string
	has        []string
}

// queries are questions of all kinds that can be asked.
func queries() []query {
	var list []query
	for _, pod := range []string{"bound", "crowded-out", "beyond-quota", "gang-a", "beyond-reservation", "gated", "preempting"} {
		list = append(list, query{
			path: diagnosticsPath + "/namespaces/" + tenantNamespace + "/podexplanations",
			body: fmt.Sprintf(`{"spec":{"podName":%q,"maxNodes":100,"history":true}}`, pod),
		})
	}
	list = append(list,
		query{
			path: diagnosticsPath + "/namespaces/canary-shop/podexplanations", body: `{"spec":{"podName":"canary-web","history":true}}`,
			has: []string{"canary-web", "canary-shop"},
		},
		query{
			path: diagnosticsPath + "/namespaces/" + tenantNamespace + "/podexplanations", body: `{"spec":{"reservationName":"canary-room"}}`,
			has: []string{"canary-room"},
		})
	for _, node := range nodeNames {
		list = append(list,
			query{path: diagnosticsPath + "/nodeexplanations", body: fmt.Sprintf(`{"spec":{"nodeName":%q,"maxParts":1000}}`, node), has: []string{node}},
			query{
				path: diagnosticsPath + "/nodeexplanations", has: []string{node},
				body: fmt.Sprintf(`{"spec":{"nodeName":%q,"agent":{"maxCandidates":1000,"sections":["features","suppression","cpus","evictions","usage"]}}}`, node),
			},
			query{path: diagnosticsPath + "/nodeexplanations", has: []string{node}, body: fmt.Sprintf(`{"spec":{"nodeName":%q,"agent":{"sections":["audit"]}}}`, node)},
			query{path: diagnosticsPath + "/nodeexplanations", has: []string{node}, body: fmt.Sprintf(`{"spec":{"nodeName":%q,"agent":{"sections":["pods"]}}}`, node)})
	}
	names, _ := json.Marshal(nodeNames)
	return append(list,
		query{path: diagnosticsPath + "/nodeoverviews"},
		query{path: diagnosticsPath + "/nodeoverviews/" + nodeNames[0], has: nodeNames[:1]},
		query{path: diagnosticsPath + "/namespaces/canary-shop/quotaexplanations/canary-team", has: []string{"canary-team", "canary-shop"}},
		query{path: diagnosticsPath + "/nodeexplanationbatches", has: nodeNames, body: fmt.Sprintf(`{"spec":{"nodeNames":%s,"maxParts":1000}}`, names)},
		query{
			path: diagnosticsPath + "/nodeexplanationbatches", has: nodeNames,
			body: fmt.Sprintf(`{"spec":{"nodeNames":%s,"agent":{"maxCandidates":1000,"sections":["features","suppression","cpus","evictions","usage"]}}}`, names),
		})
}

// forms are how answers are sent.
var forms = map[string]string{"JSON": "application/json", "table": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}

// send asks, and returns whatever is sent back.
func (q query) send(ctx context.Context, client kubernetes.Interface, accept string) (string, error) {
	ask := client.CoreV1().RESTClient().Get()
	if q.body != "" {
		ask = client.CoreV1().RESTClient().Post().Body([]byte(q.body))
	}
	body, err := ask.AbsPath(q.path).SetHeader("Accept", accept).SetHeader("Content-Type", "application/json").DoRaw(ctx)
	if err != nil {
		return string(body) + err.Error(), err
	}
	return string(body), nil
}

// own is the node of a pod that the caller may get: its spec names it.
func own(text string) []string {
	var answer diagnosticsv1alpha1.PodExplanation
	if json.Unmarshal([]byte(text), &answer) == nil && answer.Status.Pod.NodeName != "" {
		return []string{answer.Status.Pod.NodeName}
	}
	return nil
}

// leaked lists what an answer names and the caller may not get.
func (c caller) leaked(text string, known []string) []string {
	var names []string
	for resource, list := range canaries {
		for _, name := range list {
			if !slices.Contains(c.gets, resource) && !slices.Contains(known, name) && strings.Contains(text, name) {
				names = append(names, resource+"/"+name)
			}
		}
	}
	return names
}

// TestExplanationsNameOnlyWhatTheCallerMayGet asks every kind of question as every kind of user, and looks for the names of all that this
// one may not get.
func TestExplanationsNameOnlyWhatTheCallerMayGet(t *testing.T) {
	setStage(t)
	for _, c := range callers(t) {
		t.Run(c.name, func(t *testing.T) {
			answered := 0
			for _, q := range queries() {
				known := q.has
				for form, accept := range forms {
					text, err := q.send(t.Context(), c.client, accept)
					if err != nil && !apierrors.IsForbidden(err) {
						t.Errorf("%s %s: %v", q.path, q.body, err)
					}
					if err == nil {
						answered++
					}
					if text, err := q.send(t.Context(), c.client, forms["JSON"]); err == nil {
						known = append(slices.Clone(q.has), own(text)...)
					}
					if names := c.leaked(text, known); len(names) > 0 {
						t.Errorf("%s of %s %s names %q:\n%s", form, q.path, q.body, names, text)
					}
				}
			}
			if answered == 0 {
				t.Error("nothing was answered")
			}
		})
	}
}

// TestExplanationsOfWhoRunsTheClusterNameEverything: what is withheld from others is there.
func TestExplanationsOfWhoRunsTheClusterNameEverything(t *testing.T) {
	setStage(t)
	for _, c := range callers(t) {
		if len(c.gets) < len(canaries) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			sandboxtest.Eventually(t, patience, func() error { return namesEverything(t.Context(), c.client) })
		})
	}
}

func namesEverything(ctx context.Context, client kubernetes.Interface) error {
	var all strings.Builder
	for _, q := range queries() {
		text, err := q.send(ctx, client, forms["JSON"])
		if err != nil {
			return err
		}
		if strings.Contains(text, `"withheld"`) {
			return fmt.Errorf("withheld from %s: %.300s", q.body, text)
		}
		if q.has == nil || strings.Contains(q.path, "/node") {
			all.WriteString(text)
		}
	}
	var missing []error
	for resource, list := range canaries {
		for _, name := range list {
			if !strings.Contains(all.String(), name) {
				missing = append(missing, fmt.Errorf("%s/%s is not named", resource, name))
			}
		}
	}
	return errors.Join(missing...)
}

// TestTheAnswerForATenantIsUsable: verdict, reasons and counts stay, the rest is counted, and what is proposed the tenant may do.
func TestTheAnswerForATenantIsUsable(t *testing.T) {
	setStage(t)
	for _, pod := range []string{"crowded-out", "beyond-quota", "gang-a", "beyond-reservation"} {
		t.Run(pod, func(t *testing.T) {
			q := query{path: diagnosticsPath + "/namespaces/" + tenantNamespace + "/podexplanations", body: fmt.Sprintf(`{"spec":{"podName":%q}}`, pod)}
			text, err := q.send(t.Context(), tenant, forms["JSON"])
			if err != nil {
				t.Fatal(err)
			}
			var answer diagnosticsv1alpha1.PodExplanation
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatal(err)
			}
			s := answer.Status
			if len(s.Groups) == 0 || s.Groups[0].Reason == "" || s.Verdict == diagnosticsv1alpha1.PodUnschedulable && s.NodesTotal != int32(len(nodeNames)) {
				t.Errorf("verdict %s of %d nodes, groups %+v", s.Verdict, s.NodesTotal, s.Groups)
			}
			if s.Verdict == diagnosticsv1alpha1.PodUnschedulable && len(s.Withheld) == 0 {
				t.Errorf("nothing is withheld: %s", text)
			}
			if s.Fix == nil && s.FixBeyondRights == nil && s.Verdict == diagnosticsv1alpha1.PodUnschedulable && pod != "gang-a" {
				t.Errorf("no change helps: %s", text)
			}
			if s.Fix != nil {
				mayDo(t, s.Fix)
			}
			if pod == "crowded-out" && (s.Fix == nil || s.Fix.Kind != "reduceRequest" || !strings.Contains(s.Summary, "3 Insufficient cpu")) {
				t.Errorf("fix %+v, summary %q", s.Fix, s.Summary)
			}
		})
	}
}

// mayDo fails the test for a fix of which the tenant may not take every step.
func mayDo(t *testing.T, fix *diagnosticsv1alpha1.Fix) {
	t.Helper()
	for _, step := range fix.Steps {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: step.Verb, Group: step.Group, Resource: step.Resource, Namespace: step.Namespace, Name: step.Name,
		}}}
		said, err := tenant.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !said.Status.Allowed {
			t.Errorf("the tenant may not %s, which %q takes", step.Command, fix.Description)
		}
	}
}
