package migration

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// sent is one request of the evictor.
type sent struct {
	Method, Path string
	Body         map[string]any
}

// evictBy sends an eviction to a server that answers with a status, and returns what was sent.
func evictBy(t *testing.T, policy migration.EvictionPolicy, status int) ([]sent, error) {
	t.Helper()
	var requests []sent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		request := sent{Method: r.Method, Path: r.URL.Path}
		if err := json.Unmarshal(data, &request.Body); err != nil {
			t.Error(err)
		}
		requests = append(requests, request)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
		if _, err := io.WriteString(w, "{}"); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "cached", ResourceVersion: "7"}}
	soft := extension.SoftEvictionSpec{Timestamp: new(metav1.NewTime(time.Unix(0, 0).UTC())), Initiator: migration.CreatedBy, Reason: "hot"}
	err = evictor{client: client}.evict(t.Context(), pod, migration.Action{Kind: migration.EvictPod, UID: "uid", Policy: policy}, metav1.DeleteOptions{GracePeriodSeconds: new(int64(5))}, soft)
	return requests, err
}

func TestPodsAreEvictedByPolicyAndOnTheConditionOfTheirUID(t *testing.T) {
	options := map[string]any{"gracePeriodSeconds": 5.0, "preconditions": map[string]any{"uid": "uid"}}
	for _, test := range []struct {
		policy migration.EvictionPolicy
		want   sent
	}{
		{policy: migration.Eviction, want: sent{Method: "POST", Path: "/api/v1/namespaces/default/pods/web/eviction", Body: map[string]any{
			"apiVersion": "policy/v1", "kind": "Eviction", "metadata": map[string]any{"namespace": "default", "name": "web"}, "deleteOptions": options,
		}}},
		{policy: migration.Delete, want: sent{Method: "DELETE", Path: "/api/v1/namespaces/default/pods/web", Body: map[string]any{
			"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 5.0, "preconditions": map[string]any{"uid": "uid"},
		}}},
		{policy: migration.SoftEviction, want: sent{Method: "PATCH", Path: "/api/v1/namespaces/default/pods/web", Body: map[string]any{
			"metadata": map[string]any{"uid": "uid", "resourceVersion": "7", "annotations": map[string]any{
				"scheduling.koordinator.sh/soft-eviction": `{"timestamp":"1970-01-01T00:00:00Z","initiator":"koord-descheduler","reason":"hot"}`,
			}},
		}}},
	} {
		t.Run(string(test.policy), func(t *testing.T) {
			got, err := evictBy(t, test.policy, http.StatusCreated)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if meta, ok := got[i].Body["metadata"].(map[string]any); ok {
					delete(meta, "creationTimestamp")
				}
			}
			if diff := cmp.Diff([]sent{test.want}, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestARefusalIsNotRepeatedByTheClient(t *testing.T) {
	requests, err := evictBy(t, migration.Eviction, http.StatusTooManyRequests)
	if !apierrors.IsTooManyRequests(err) {
		t.Errorf("error %v, want that of a status 429", err)
	}
	if len(requests) != 1 {
		t.Errorf("%d requests, want 1: the job has a backoff of its own", len(requests))
	}
}
