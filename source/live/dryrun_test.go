package live

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// judge is an API server that answers dry runs, and fails a test that is sent anything else.
type judge struct {
	t *testing.T
	// refuse are the answers to "METHOD path"; what is not there is accepted.
	refuse map[string]metav1.Status

	mu    sync.Mutex
	asked []string
}

func (j *judge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	j.mu.Lock()
	defer j.mu.Unlock()
	if r.URL.Query().Get("dryRun") != "All" {
		j.t.Errorf("%s %s is no dry run", r.Method, r.URL)
	}
	line := r.Method + " " + r.URL.Path
	j.asked = append(j.asked, strings.TrimSpace(line+" "+r.Header.Get("Content-Type")+" "+string(body)))
	if status, refused := j.refuse[line]; refused {
		livetest.Fail(w, int(status.Code), status.Reason, status.Message)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
}

// Answers of an API server that does not carry out a request.
var (
	forbidden403 = metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: `nodes "worker-1" is forbidden: User "eve" cannot patch resource "nodes" in API group "" at the cluster scope`}
	denied403    = metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: `admission webhook "vpod.koordinator.sh" denied the request: labels: may not change (KOORD1305)`}
	quota403     = metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: `pods "dry-run-x" is forbidden: exceeded quota: compute`}
	invalid422   = metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid, Message: `Pod "web" is invalid: spec: Forbidden`}
	broken500    = metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError, Message: "etcd is away"}
	missing404   = metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound, Message: `nodes "worker-1" not found`}
)

const mergePatch = "application/merge-patch+json"

// uncordon is the step that makes a node schedulable, and evict the one that removes a pod.
var (
	uncordon = diagnosticsv1alpha1.FixStep{
		Command: "kubectl uncordon worker-1", Verb: "patch", Version: "v1", Resource: "nodes", Name: "worker-1", PatchType: mergePatch, Patch: `{"spec":{"unschedulable":false}}`,
	}
	evict      = diagnosticsv1alpha1.FixStep{Command: "kubectl delete pod", Verb: "delete", Version: "v1", Resource: "pods", Namespace: "spark", Name: "executor-1"}
	raiseQuota = diagnosticsv1alpha1.FixStep{
		Command: "kubectl patch", Verb: "patch", Group: "scheduling.sigs.k8s.io", Version: "v1alpha1", Resource: "elasticquotas", Namespace: "kube-system", Name: "team-a",
		PatchType: mergePatch, Patch: `{"spec":{"max":{"cpu":"9"}}}`,
	}
	byHand = diagnosticsv1alpha1.FixStep{Command: "kubectl edit deployment web", Version: "v1", Resource: "deployments", Name: "web"}
)

const replacement = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  schedulerName: koord-scheduler\n"

// Lines of what is sent.
const (
	sentUncordon = `PATCH /api/v1/nodes/worker-1 ` + mergePatch + ` {"spec":{"unschedulable":false}}`
	sentEvict    = "DELETE /api/v1/namespaces/spark/pods/executor-1"
	sentQuota    = `PATCH /apis/scheduling.sigs.k8s.io/v1alpha1/namespaces/kube-system/elasticquotas/team-a ` + mergePatch + ` {"spec":{"max":{"cpu":"9"}}}`
	sentRemoval  = "DELETE /api/v1/namespaces/shop/pods/web"
	sentPod      = `POST /api/v1/namespaces/shop/pods application/json {"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"dry-run-"},"spec":{"schedulerName":"koord-scheduler"}}`
)

func TestFixesAreTriedAsDryRuns(t *testing.T) {
	const accepted, refused, forbid, unknown = diagnosticsv1alpha1.DryRunAccepted, diagnosticsv1alpha1.DryRunRefused, diagnosticsv1alpha1.DryRunForbidden, diagnosticsv1alpha1.DryRunUnknown
	tests := map[string]struct {
		steps        []diagnosticsv1alpha1.FixStep
		manifest     string
		refuse       map[string]metav1.Status
		wantAsked    []string
		wantVerdict  diagnosticsv1alpha1.DryRunVerdict
		wantRequests []string
		wantVerified bool
	}{
		"nothing to send": {wantVerified: true},
		"what a person has to finish is not sent": {
			steps: []diagnosticsv1alpha1.FixStep{byHand}, wantVerified: true,
		},
		"a patch that is accepted": {
			steps: []diagnosticsv1alpha1.FixStep{uncordon}, wantAsked: []string{sentUncordon}, wantVerdict: accepted, wantRequests: []string{"patch nodes: Accepted"}, wantVerified: true,
		},
		"of an object of a group, in a namespace": {
			steps: []diagnosticsv1alpha1.FixStep{raiseQuota}, wantAsked: []string{sentQuota}, wantVerdict: accepted,
			wantRequests: []string{"patch elasticquotas.scheduling.sigs.k8s.io in namespace kube-system: Accepted"}, wantVerified: true,
		},
		"a deletion that is accepted": {
			steps: []diagnosticsv1alpha1.FixStep{evict}, wantAsked: []string{sentEvict}, wantVerdict: accepted, wantRequests: []string{"delete pods in namespace spark: Accepted"}, wantVerified: true,
		},
		"what the user may not do": {
			steps: []diagnosticsv1alpha1.FixStep{uncordon}, refuse: map[string]metav1.Status{"PATCH /api/v1/nodes/worker-1": forbidden403},
			wantAsked: []string{sentUncordon}, wantVerdict: forbid, wantRequests: []string{`patch nodes: Forbidden, not permitted for user "eve"`}, wantVerified: true,
		},
		"what a webhook denies": {
			steps: []diagnosticsv1alpha1.FixStep{uncordon}, refuse: map[string]metav1.Status{"PATCH /api/v1/nodes/worker-1": denied403},
			wantAsked: []string{sentUncordon}, wantVerdict: refused, wantRequests: []string{"patch nodes: Refused, labels: may not change (KOORD1305)"},
		},
		"what is invalid": {
			steps: []diagnosticsv1alpha1.FixStep{uncordon}, refuse: map[string]metav1.Status{"PATCH /api/v1/nodes/worker-1": invalid422},
			wantAsked: []string{sentUncordon}, wantVerdict: refused, wantRequests: []string{`patch nodes: Refused, Pod "web" is invalid: spec: Forbidden`},
		},
		"a server that fails says nothing of the fix": {
			steps: []diagnosticsv1alpha1.FixStep{uncordon}, refuse: map[string]metav1.Status{"PATCH /api/v1/nodes/worker-1": broken500},
			wantAsked: []string{sentUncordon}, wantVerdict: unknown, wantRequests: []string{`patch nodes: Unknown, patch nodes "worker-1": etcd is away`}, wantVerified: true,
		},
		"nor does an object that went": {
			steps: []diagnosticsv1alpha1.FixStep{uncordon}, refuse: map[string]metav1.Status{"PATCH /api/v1/nodes/worker-1": missing404},
			wantAsked: []string{sentUncordon}, wantVerdict: unknown, wantRequests: []string{`patch nodes: Unknown, patch nodes "worker-1": not found`}, wantVerified: true,
		},
		"a pod that is created anew": {
			manifest: replacement, wantAsked: []string{sentRemoval, sentPod}, wantVerdict: accepted,
			wantRequests: []string{"delete pods in namespace shop: Accepted", "create pods in namespace shop: Accepted"}, wantVerified: true,
		},
		"one that cannot be removed": {
			manifest: replacement, refuse: map[string]metav1.Status{"DELETE /api/v1/namespaces/shop/pods/web": denied403},
			wantAsked: []string{sentRemoval, sentPod}, wantVerdict: refused,
			wantRequests: []string{"delete pods in namespace shop: Refused, labels: may not change (KOORD1305)", "create pods in namespace shop: Accepted"},
		},
		"one whose quota is full until a step is made": {
			steps: []diagnosticsv1alpha1.FixStep{evict}, manifest: replacement, refuse: map[string]metav1.Status{"POST /api/v1/namespaces/shop/pods": quota403},
			wantAsked: []string{sentEvict, sentRemoval, sentPod}, wantVerdict: unknown, wantVerified: true,
			wantRequests: []string{
				"delete pods in namespace spark: Accepted", "delete pods in namespace shop: Accepted",
				`create pods in namespace shop: Unknown, rejected until the steps before it are made: pods "dry-run-x" is forbidden: exceeded quota: compute`,
			},
		},
		"the worst of several counts": {
			steps:     []diagnosticsv1alpha1.FixStep{uncordon, raiseQuota, evict},
			refuse:    map[string]metav1.Status{"PATCH /api/v1/nodes/worker-1": denied403, "DELETE /api/v1/namespaces/spark/pods/executor-1": forbidden403},
			wantAsked: []string{sentUncordon, sentQuota, sentEvict}, wantVerdict: refused,
			wantRequests: []string{
				"patch nodes: Refused, labels: may not change (KOORD1305)", "patch elasticquotas.scheduling.sigs.k8s.io in namespace kube-system: Accepted",
				`delete pods in namespace spark: Forbidden, not permitted for user "eve"`,
			},
		},
		"a manifest that is none": {manifest: "kind: [", wantVerified: true},
		"one without a name":      {manifest: "kind: Pod\n", wantVerified: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			j := &judge{t: t, refuse: tc.refuse}
			fix := &diagnosticsv1alpha1.Fix{Steps: tc.steps, Manifest: tc.manifest, Verified: true}
			sourceOf(t, j.ServeHTTP).DryRun(t.Context(), "shop", fix)
			if diff := cmp.Diff(tc.wantAsked, j.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if fix.Verified != tc.wantVerified {
				t.Errorf("verified %t, want %t", fix.Verified, tc.wantVerified)
			}
			if tc.wantVerdict == "" {
				if fix.DryRun != nil {
					t.Errorf("a dry run of nothing: %+v", fix.DryRun)
				}
				return
			}
			var requests []string
			for _, r := range fix.DryRun.Requests {
				requests = append(requests, strings.TrimSuffix(fmt.Sprintf("%s: %s, %s", r.Right, r.Verdict, r.Message), ", "))
			}
			if diff := cmp.Diff(tc.wantRequests, requests); diff != "" || fix.DryRun.Verdict != tc.wantVerdict {
				t.Errorf("verdict %s, want %s; requests (-want +got):\n%s", fix.DryRun.Verdict, tc.wantVerdict, diff)
			}
		})
	}
}

// TestAFixThatIsNotVerifiedStaysSo: a dry run that is accepted says nothing of the scheduler.
func TestAFixThatIsNotVerifiedStaysSo(t *testing.T) {
	j := &judge{t: t}
	fix := &diagnosticsv1alpha1.Fix{Steps: []diagnosticsv1alpha1.FixStep{uncordon}}
	sourceOf(t, j.ServeHTTP).DryRun(t.Context(), "shop", fix)
	if fix.Verified || fix.DryRun == nil || fix.DryRun.Verdict != diagnosticsv1alpha1.DryRunAccepted {
		t.Errorf("fix %+v", fix)
	}
}
