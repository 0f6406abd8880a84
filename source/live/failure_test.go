package live

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"koordinator.sh/koord/api/finding"
)

// TestErrorsOfOtherLibrariesAreToldAsOurs: what was asked, and the next command to run.
func TestErrorsOfOtherLibrariesAreToldAsOurs(t *testing.T) {
	rbac := func(name, what string) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, name, errors.New(what))
	}
	refused := &url.Error{Op: "Get", URL: "https://x/api", Err: errors.New("connection refused")}
	coded := finding.Wrap(errors.New("a release of another chart"), finding.ReleaseForeign, "helm list")
	for name, tc := range map[string]struct {
		err      error
		wantCode finding.Code
		wantText string
		wantHint string
	}{
		"a right that lacks": {
			fmt.Errorf("query: %w", rbac("web", `User "eve" cannot get resource "deployments" in API group "apps" in the namespace "shop"`)),
			finding.Forbidden, `get deployments.apps "web" in namespace "shop": not permitted for user "eve"`, "kubectl auth can-i get deployments.apps -n shop",
		},
		"the text of one alone": {
			errors.New(`secrets is forbidden: User "eve" cannot list resource "secrets" in API group "" at the cluster scope`),
			finding.Forbidden, `list secrets: not permitted for user "eve"`, "kubectl auth can-i list secrets",
		},
		"no answer":           {fmt.Errorf("kubernetes cluster unreachable: %w", refused), finding.ClusterUnreachable, "install: the API server cannot be reached: connection refused", unreachableHint},
		"credentials":         {apierrors.NewUnauthorized("no"), finding.Forbidden, "install: you must be logged in to the server (Unauthorized)", "kubectl auth whoami"},
		"one that has a code": {coded, finding.ReleaseForeign, "a release of another chart", "helm list"},
		"any other":           {errors.New("no space left"), "", "no space left", ""},
		"an interruption":     {context.Canceled, "", "install: context canceled", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := Failure(t.Context(), "install", tc.err)
			found, _ := finding.From(got)
			if found == nil {
				found = &finding.Error{}
			}
			if got.Error() != tc.wantText || found.Code != tc.wantCode || found.Hint != tc.wantHint {
				t.Errorf("got %q, code %q, hint %q; want %q, %q, %q", got, found.Code, found.Hint, tc.wantText, tc.wantCode, tc.wantHint)
			}
		})
	}
	if Failure(t.Context(), "install", nil) != nil {
		t.Error("no error is an error")
	}
}
