package kubectlplugin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/source/live/livetest"
)

// roomy answers reviews of placements: each node takes as many pods as it says, in the order of the names; a new node takes three,
// and one with another offer one for each 10 CPUs of batch.
type roomy map[string]int32

func (c roomy) ServeHTTP(w http.ResponseWriter, r *http.Request) { serveReview(w, r, c.answer) }

// serveReview answers a review of placements as koord-manager would.
func serveReview(w http.ResponseWriter, r *http.Request, answer func(*diagnosticsv1alpha1.PlacementReviewSpec) diagnosticsv1alpha1.PlacementReviewStatus) {
	review := &diagnosticsv1alpha1.PlacementReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if errs := diagnosticsv1alpha1.ValidatePlacementReview(review); len(errs) > 0 {
		livetest.Fail(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, errs.ToAggregate().Error())
		return
	}
	review.Status = answer(&review.Spec)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

func (c roomy) answer(spec *diagnosticsv1alpha1.PlacementReviewSpec) diagnosticsv1alpha1.PlacementReviewStatus {
	status := diagnosticsv1alpha1.PlacementReviewStatus{Origin: diagnosticsv1alpha1.Origin{Leader: true}}
	room, names := map[string]int32{}, []string{}
	for name, pods := range c {
		room[name], names = pods, append(names, name)
	}
	slices.Sort(names)
	status.Offers = int32(len(spec.Offers))
	for _, offer := range spec.Offers {
		batch := offer.Allocatable[extension.BatchCPU]
		if room[offer.Node] = int32(batch.Value() / 10000); !slices.Contains(names, offer.Node) {
			names = append(names, offer.Node)
		}
	}
	for _, of := range spec.NewNodes {
		for n := range of.Count {
			name := fmt.Sprintf("%s-new-%d", of.Like, n+1)
			room[name], names, status.NewNodes = 3, append(names, name), append(status.NewNodes, name)
		}
	}
	take := func() string {
		for _, name := range names {
			if room[name] > 0 {
				room[name]--
				return name
			}
		}
		return ""
	}
	refused := fmt.Sprintf("0/%d nodes are available: %d Insufficient cpu.", len(names), len(names))
	groups := []diagnosticsv1alpha1.RefusalGroup{{
		Plugin: "NodeResourcesFit", Code: "KOORD1201", Reason: "Insufficient cpu", Message: "Insufficient cpu (requested 4, free 2 on worker-1)", Count: int32(len(names)),
	}}
	if spec.Waiting {
		for _, name := range []string{"job-0", "job-1", "job-2"} {
			placement := diagnosticsv1alpha1.PodPlacement{Namespace: "spark", Name: name, Verdict: diagnosticsv1alpha1.PlacementFound}
			if placement.Node = take(); placement.Node == "" {
				placement.Verdict, placement.Summary, placement.Groups = diagnosticsv1alpha1.PlacementNone, refused, groups
			} else {
				placement.Summary = "1 node is available, " + placement.Node + " is taken"
			}
			status.Placements = append(status.Placements, placement)
		}
		status.Placements = append(status.Placements, diagnosticsv1alpha1.PodPlacement{
			Namespace: "spark", Name: "held", Verdict: diagnosticsv1alpha1.PlacementGated, Summary: "gated: waiting for scheduling gates: [kueue]",
		})
	}
	for _, of := range spec.Copies {
		placed := diagnosticsv1alpha1.CopiesPlacement{Namespace: of.Namespace, Like: of.Like, Asked: of.Count, Verdict: diagnosticsv1alpha1.PlacementFound}
		on := map[string]int32{}
		for placed.Placed < of.Count {
			node := take()
			if node == "" {
				placed.Verdict, placed.Summary, placed.Groups = diagnosticsv1alpha1.PlacementNone, refused, groups
				break
			}
			placed.Placed++
			on[node]++
		}
		for _, name := range names {
			if on[name] > 0 {
				placed.Nodes = append(placed.Nodes, diagnosticsv1alpha1.CopiesOnNode{Name: name, Copies: on[name]})
			}
		}
		status.Copies = append(status.Copies, placed)
	}
	return status
}

// once answers one question, and is gone for the others.
type once struct {
	http.Handler
	asked atomic.Bool
}

func (o *once) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if o.asked.Swap(true) {
		livetest.Fail(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "the server is currently unable to handle the request")
		return
	}
	o.Handler.ServeHTTP(w, r)
}

// scaledCluster has two workloads, one of them without pods, and pods that wait.
func scaledCluster() *livetest.Server {
	web := func(name string, minute int) corev1.Pod {
		pod := replicated(makePod("shop", name, "worker-1", list("cpu", "4", "memory", "8Gi")), "apps/v1", "ReplicaSet", "web-5d8f")
		pod.Labels = map[string]string{"app": "web"}
		pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC))
		return pod
	}
	job := func(name string) corev1.Pod {
		return makePod("spark", name, "", list("kubernetes.io/batch-cpu", "2000", "kubernetes.io/batch-memory", "4Gi"))
	}
	deployment := func(name string, replicas int32) appsv1.Deployment {
		return appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
			Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
		}
	}
	return &livetest.Server{
		Nodes: []corev1.Node{makeNode("worker-1"), makeNode("worker-2")},
		Pods:  []corev1.Pod{web("web-old", 1), web("web-new", 2), job("job-0"), job("job-1"), job("job-2"), job("held")},
		Lists: map[string]runtime.Object{
			"deployments": &appsv1.DeploymentList{Items: []appsv1.Deployment{deployment("web", 2), deployment("idle", 0)}},
		},
		Diagnostics: roomy{"worker-1": 1, "worker-2": 2},
	}
}

func TestPlacementForecasts(t *testing.T) {
	same := func(*livetest.Server) {}
	tests := map[string]struct {
		line   string
		server func(*livetest.Server)
	}{
		"scale-fits":             {"whatif scale deployment/web -n shop --replicas 5", same},
		"scale-partial":          {"whatif scale deploy web -n shop --replicas 9 --fail-on=error", same},
		"scale-full":             {"whatif scale deployment/web -n shop --replicas 9", func(s *livetest.Server) { s.Diagnostics = roomy{} }},
		"scale-new-nodes":        {"whatif scale deployment/web -n shop --replicas 7 --new-nodes worker-1=2", same},
		"scale-json":             {"whatif scale deployment/web -n shop --replicas 9 -o json", same},
		"scale-name":             {"whatif scale deployment/web -n shop --replicas 5 -o name", same},
		"scale-down":             {"whatif scale deployment/web -n shop --replicas 2", same},
		"scale-far":              {"whatif scale deployment/web -n shop --replicas 2000", same},
		"scale-without-pods":     {"whatif scale deployment/idle -n shop --replicas 2", same},
		"scale-unknown":          {"whatif scale deployment/wep -n shop --replicas 2", same},
		"scale-unknown-type":     {"whatif scale node/worker-1 --replicas 2", same},
		"scale-of-nothing":       {"whatif scale --replicas 2", same},
		"scale-to-nothing":       {"whatif scale deployment/web", same},
		"scale-negative":         {"whatif scale deployment/web --replicas=-1", same},
		"scale-denied":           {"whatif scale deployment/web -n shop --replicas 5", func(s *livetest.Server) { s.Denied = []string{"create placementreviews"} }},
		"scale-no-workload":      {"whatif scale deployment/web -n shop --replicas 5", func(s *livetest.Server) { s.Denied = []string{"get deployments"} }},
		"scale-no-scheduler":     {"whatif scale deployment/web -n shop --replicas 5 --strict", func(s *livetest.Server) { s.Diagnostics = nil }},
		"add-nodes":              {"whatif add-nodes worker-1=2", func(s *livetest.Server) { s.Diagnostics = roomy{"worker-2": 1} }},
		"add-nodes-wide":         {"whatif add-nodes worker-1=2 -o wide", func(s *livetest.Server) { s.Diagnostics = roomy{"worker-2": 1} }},
		"add-nodes-not-compared": {"whatif add-nodes worker-1=2", func(s *livetest.Server) { s.Diagnostics = &once{Handler: roomy{"worker-2": 1}} }},
		"add-nodes-of-none":      {"whatif add-nodes", same},
		"add-nodes-unknown":      {"whatif add-nodes worker-9", same},
		"add-nodes-too-many":     {"whatif add-nodes worker-1=60 worker-2=41", same},
		"add-nodes-bad-count":    {"whatif add-nodes worker-1=few", same},
		"capacity":               {"forecast capacity deployment/web -n shop", same},
		"capacity-of-a-pod":      {"forecast capacity pod/web-old -n shop", same},
		"capacity-at-least":      {"forecast capacity pod/web-old -n shop --most 2", same},
		"capacity-new-nodes":     {"forecast capacity pod web-old -n shop --new-nodes worker-2", same},
		"capacity-none":          {"forecast capacity pod/web-old -n shop --fail-on=error", func(s *livetest.Server) { s.Diagnostics = roomy{} }},
		"capacity-unknown-pod":   {"forecast capacity pod/web-odl -n shop", same},
		"capacity-too-many":      {"forecast capacity pod/web-old -n shop --most 5000", same},
		"capacity-name-alone":    {"forecast capacity web-old -n shop", same},
		"capacity-hostile": {"forecast capacity pod/web-old -n shop", func(s *livetest.Server) {
			s.Diagnostics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(&diagnosticsv1alpha1.PlacementReview{Status: diagnosticsv1alpha1.PlacementReviewStatus{
					NewNodes: []string{"one", "two"},
					Copies: []diagnosticsv1alpha1.CopiesPlacement{{
						Verdict: "Strange\x1b[31m", Placed: -3, Asked: 1 << 30, Nodes: []diagnosticsv1alpha1.CopiesOnNode{{Name: "no\x1b]0;such\x07 node", Copies: 1}}, Summary: "a\nline\x1b[2J",
					}},
				}})
			})
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := scaledCluster()
			tc.server(server)
			golden(t, "placement/"+name, tc.line, run(t, server, tc.line))
		})
	}
}
