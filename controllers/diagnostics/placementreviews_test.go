package diagnostics

import (
	"net/http"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

const reviewsPath = "/apis/diagnostics.koordinator.sh/v1alpha1/placementreviews"

func TestPlacementReviews(t *testing.T) {
	const question = `{"spec":{"pods":[{"namespace":"shop","name":"web-1"}]}}`
	without := func(resource string) func(authorizer.Attributes) bool {
		return func(a authorizer.Attributes) bool { return a.GetResource() != resource }
	}
	namespaced := func(a authorizer.Attributes) bool { return a.GetResource() != "pods" || a.GetNamespace() == "shop" }
	tests := []struct {
		name     string
		body     string
		allow    func(authorizer.Attributes) bool
		wantCode int
		wantText string
	}{
		{name: "who may get all pods and nodes is answered", body: question, allow: everything, wantCode: http.StatusCreated, wantText: `"node":"worker-2"`},
		{name: "who may not get nodes is refused", body: question, allow: without("nodes"), wantCode: http.StatusForbidden, wantText: "nodes"},
		{name: "who may get pods of one namespace is refused", body: question, allow: namespaced, wantCode: http.StatusForbidden, wantText: "pods"},
		{name: "a question about no pod is invalid", body: `{"spec":{"pods":[]}}`, allow: everything, wantCode: http.StatusUnprocessableEntity, wantText: "spec.pods"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, body := send(t, newTestServer(t, &recorder{}, tt.allow), http.MethodPost, reviewsPath, "application/json", tt.body)
			if code != tt.wantCode || !strings.Contains(string(body), tt.wantText) {
				t.Errorf("status %d, want %d with %q:\n%s", code, tt.wantCode, tt.wantText, body)
			}
		})
	}
}
