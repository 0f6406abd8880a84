package services_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/services"
	"koordinator.sh/koord/scheduler/services/servicestest"
	"koordinator.sh/koord/scheduler/state/gangs"
	"koordinator.sh/koord/scheduler/state/reservations"
	"koordinator.sh/koord/test/eventually"
)

// knownGangs is the state of a PodGroup of two with a bound and a pending member.
func knownGangs(t *testing.T) *gangs.State {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	groups, source := fcache.NewFakeControllerSource(), fcache.NewFakeControllerSource()
	group := &schedulingsigsv1alpha1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "g", UID: "g", CreationTimestamp: metav1.NewTime(time.Unix(1000, 0))}}
	group.Spec.MinMember = 2
	groups.Add(group)
	for i, node := range []string{"n", ""} {
		name := fmt.Sprint("p", i)
		source.Add(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{extension.LabelPodGroup: "g"}}, Spec: corev1.PodSpec{NodeName: node},
		})
	}
	pods := cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})
	state, err := gangs.NewFrom(groups, pods, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { state.Run(ctx) })
	running.Go(func() { pods.RunWithContext(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	key := gang.Key{Namespace: "ns", Name: "g"}
	eventually.True(t, "the gang is known", func() bool {
		return state.Counts(key).Bound == 1 && len(state.Members(key)) == 2 && state.Spec(key) != nil && state.Object(key) != nil
	})
	return state
}

func TestGangs(t *testing.T) {
	provider := services.Gangs{State: &knownGangs(t).View}
	code, one := servicestest.Get(t, provider, nil, "gang/ns/g")
	var summary map[string]any
	if err := json.Unmarshal([]byte(one), &summary); code != 200 || err != nil {
		t.Fatalf("code %d, error %v: %s", code, err, one)
	}
	delete(summary, "createTime")
	want := map[string]any{
		"name": "ns/g", "waitTime": 600e9, "mode": "Strict", "gangMatchPolicy": "once-satisfied", "minRequiredNumber": 2.0, "totalChildrenNum": 2.0,
		"gangGroup": []any{"ns/g"}, "children": map[string]any{"ns/p0": map[string]any{}, "ns/p1": map[string]any{}}, "pendingChildren": map[string]any{"ns/p1": map[string]any{}},
		"waitingForBindChildren": map[string]any{}, "boundChildren": map[string]any{"ns/p0": map[string]any{}}, "onceResourceSatisfied": false, "gangFrom": "PodGroup", "hasGangInit": true,
	}
	if diff := cmp.Diff(want, summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if code, all := servicestest.Get(t, provider, nil, "gangs"); code != 200 || strings.TrimSpace(all) != `{"ns/g":`+strings.TrimSpace(one)+"}" {
		t.Errorf("all of them, code %d: %s", code, all)
	}
	if code, text := servicestest.Get(t, provider, nil, "gang/ns/other"); code != 404 || !strings.Contains(text, "cannot find gang ns/other") {
		t.Errorf("another one, code %d: %s", code, text)
	}
}

// onNode is a state with reservations on one node.
type onNode map[string][]*reservations.View

func (o onNode) OnNode(node string) []*reservations.View { return o[node] }

func TestReservations(t *testing.T) {
	object := &schedulingv1alpha1.Reservation{}
	object.Spec.Owners = []schedulingv1alpha1.ReservationOwner{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	held := decision.Amounts{"cpu": 4000}
	state := onNode{"n": {
		{Candidate: decision.Candidate{Reservation: &decision.Reservation{Name: "pod", UID: "p", Allocatable: held}}, Held: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}},
		{
			Candidate: decision.Candidate{
				Reservation: &decision.Reservation{Name: "r", UID: "u", Once: true, Allocatable: held, Policy: "Aligned"}, Use: decision.Use{Users: 1, Taken: decision.Amounts{"cpu": 1000}},
			},
			Object: object, Pods: map[types.UID]decision.User{"x": {UID: "x", Namespace: "ns", Name: "user", Requests: decision.Amounts{"cpu": 1000}}},
		},
	}}
	want := `{"items":[` +
		`{"name":"pod","namespace":"ns","uid":"p","kind":"Pod","available":true,"allocateOnce":false,"allocatable":{"cpu":"4"}},` +
		`{"name":"r","uid":"u","kind":"Reservation","available":true,"allocateOnce":true,"allocatable":{"cpu":"4"},"allocated":{"cpu":"1"},` +
		`"owners":[{"labelSelector":{"matchLabels":{"app":"web"}}}],"allocatePolicy":"Aligned","assignedPods":[{"namespace":"ns","name":"user","uid":"x","requests":{"cpu":"1"}}]}]}`
	if code, got := servicestest.Get(t, services.Reservations{State: state}, nil, "nodeReservations/n"); code != 200 || strings.TrimSpace(got) != want {
		t.Errorf("code %d (-want +got):\n%s", code, cmp.Diff(want, strings.TrimSpace(got)))
	}
	if code, got := servicestest.Get(t, services.Reservations{State: state}, nil, "nodeReservations/m"); code != 200 || strings.TrimSpace(got) != `{"items":[]}` {
		t.Errorf("of a node without any: code %d, %s", code, got)
	}
}
