package diagnostics

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"koordinator.sh/koord/scheduler/services"
)

// TestServicesAreProtected asks with an authorizer as a cluster has it: all who are authenticated may get the paths of the discovery.
func TestServicesAreProtected(t *testing.T) {
	authentication := authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		name := r.Header.Get("Test-User")
		return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, name != "", nil
	})
	authorization := authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		discovery := a.GetVerb() == "get" && strings.HasPrefix(a.GetPath(), "/apis/") && !a.IsResourceRequest()
		granted := a.GetVerb() == "get" && a.GetAPIGroup() == "diagnostics.koordinator.sh" && a.GetResource() == "schedulerservices" && a.IsResourceRequest()
		who := a.GetUser().GetName()
		if discovery || granted && (who == "viewer" || who == "quota-viewer" && a.GetName() == "ElasticQuota") {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
	below := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	ready := func() bool { return true }
	server := protect(beside(newHandler(explainerFunc(echo), nil, ready, authorization), below), authentication, authorization)
	tests := []struct {
		name, user, method, path string
		want                     int
	}{
		{name: "nobody in particular", method: http.MethodGet, path: services.Base + "__services__", want: http.StatusUnauthorized},
		{name: "somebody without a role", user: "nobody", method: http.MethodGet, path: services.Base + "nodes/n", want: http.StatusForbidden},
		{name: "a viewer", user: "viewer", method: http.MethodGet, path: services.Base + "plugins/DeviceShare/nodeDeviceSummaries", want: http.StatusTeapot},
		{name: "somebody without a role asks a plugin", user: "nobody", method: http.MethodGet, path: services.Base + "plugins/ElasticQuota/quotas", want: http.StatusForbidden},
		{name: "somebody without a role asks for the paths", user: "nobody", method: http.MethodGet, path: services.Base + "__services__", want: http.StatusForbidden},
		{name: "a viewer of one plugin", user: "quota-viewer", method: http.MethodGet, path: services.Base + "plugins/ElasticQuota/quotas", want: http.StatusTeapot},
		{name: "a viewer of one plugin asks another", user: "quota-viewer", method: http.MethodGet, path: services.Base + "plugins/DeviceShare/nodeDeviceSummaries", want: http.StatusForbidden},
		{name: "a viewer who writes", user: "viewer", method: http.MethodPut, path: services.Base + "nodes/n", want: http.StatusForbidden},
		{name: "a viewer elsewhere", user: "viewer", method: http.MethodGet, path: ExplainPath, want: http.StatusForbidden},
	}
	for _, test := range tests {
		request := httptest.NewRequestWithContext(t.Context(), test.method, test.path, nil)
		request.Header.Set("Test-User", test.user)
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, request)
		if recorder.Code != test.want {
			t.Errorf("%s gets %d, want %d: %s", test.name, recorder.Code, test.want, recorder.Body)
		}
	}
}
