package check

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/deploy/release"
)

func TestAFactIsReadOrSaysWhyNot(t *testing.T) {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New(`User "eve" cannot list resource "pods" in API group "" in the namespace "koordinator-system"`))
	tests := map[string]struct {
		err        error
		wantUnread []string
		wantCode   finding.Code
	}{
		"it is read":        {},
		"it does not exist": {err: apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "a")},
		"not permitted":     {err: refused, wantUnread: []string{`list pods in namespace "koordinator-system": not permitted for user "eve" (KOORD0002)`}},
		"the server fails":  {err: apierrors.NewInternalError(errors.New("etcd is away")), wantUnread: []string{"list pods: Internal error occurred: etcd is away"}},
		"no server answers": {err: &url.Error{Op: "Get", URL: "https://10.0.0.1", Err: errors.New("connection refused")}, wantCode: finding.ClusterUnreachable},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got Fact[string]
			err := fact(t.Context(), &got, "list pods", func(context.Context) (string, error) { return "value", tc.err })
			coded, _ := finding.From(err)
			if (err != nil) != (tc.wantCode != "") || err != nil && coded.Code != tc.wantCode {
				t.Errorf("error %v, want %q", err, tc.wantCode)
			}
			if diff := cmp.Diff(tc.wantUnread, got.Unread); diff != "" {
				t.Errorf("unread (-want +got):\n%s", diff)
			}
			if (got.Value == "value") != (tc.err == nil) {
				t.Errorf("value %q", got.Value)
			}
		})
	}
}

// TestInstallingNeedsARightOnEveryKindOfTheChart: the resources are those that an API server serves.
func TestInstallingNeedsARightOnEveryKindOfTheChart(t *testing.T) {
	manifests, err := release.Render(t.Context(), release.Options{})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := release.Objects(manifests)
	if err != nil {
		t.Fatal(err)
	}
	verbs := map[string][]string{}
	for _, right := range installRights(objects, namespace) {
		of := right
		of.Verb = ""
		verbs[of.String()] = append(verbs[of.String()], right.Verb)
	}
	applied := []string{"create", "get", "patch"}
	roles := []string{"bind", "create", "escalate", "get", "patch"}
	const kube, system = " -n kube-system", " -n koordinator-system"
	want := map[string][]string{
		" apiservices.apiregistration.k8s.io": applied, " clusterrolebindings.rbac.authorization.k8s.io": applied, " clusterroles.rbac.authorization.k8s.io": roles,
		" configmaps" + system: applied, " customresourcedefinitions.apiextensions.k8s.io": applied, " daemonsets.apps" + system: applied, " deployments.apps" + system: applied,
		" flowschemas.flowcontrol.apiserver.k8s.io": applied, " mutatingwebhookconfigurations.admissionregistration.k8s.io": applied,
		" networkpolicies.networking.k8s.io" + system: applied, " poddisruptionbudgets.policy" + system: applied, " priorityclasses.scheduling.k8s.io": applied,
		" rolebindings.rbac.authorization.k8s.io" + kube:   applied,
		" rolebindings.rbac.authorization.k8s.io" + system: applied, " roles.rbac.authorization.k8s.io" + system: roles,
		" secrets" + system: {"create", "delete", "list", "update"}, " serviceaccounts" + system: applied, " services" + system: applied,
		" validatingadmissionpolicies.admissionregistration.k8s.io": applied, " validatingadmissionpolicybindings.admissionregistration.k8s.io": applied,
		" validatingwebhookconfigurations.admissionregistration.k8s.io": applied,
	}
	if diff := cmp.Diff(want, verbs); diff != "" {
		t.Errorf("rights (-want +got):\n%s", diff)
	}
}
